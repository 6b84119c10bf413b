/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A histogram in one line of text. */
#include "tools/measure/measure.h"

void tool_text_sparkline(text *t, const uint64_t *bins, size_t count, size_t width)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double most = 0;

    width = width < count ? width : count;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t column = 0; column < width; column++) {
            double sum = 0, level;
            for (size_t i = count * column / width; i < count * (column + 1) / width; i++) {
                sum += (double)bins[i];
            }
            if (pass == 0) {
                most = sum > most ? sum : most;
                continue;
            }
            level = sum > 0 ? sum / most * 7 : 0;
            tool_text_put(t, bars[sum > 0 ? (level < 1 ? 1 : (size_t)(level + 0.5)) : 0]);
        }
    }
}
