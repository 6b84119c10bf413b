/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A digest of an address, by which the cache tells addresses apart. It reads no file and reports no error. */
#ifndef LR_HTTP_DIGEST_H
#define LR_HTTP_DIGEST_H

/** Bytes of a digest as a text: 64 hexadecimal digits and the NUL. */
enum { LR_HTTP_DIGEST = 65 };

/** Writes the SHA-256 of a text in hexadecimal digits. */
void lr_http_digest(const char *text, char digest[LR_HTTP_DIGEST]);

#endif
