/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The ring of pieces, and the team that works on it. */
#include "plugins/codec/gzip/pool.h"

#include "common/crc32.h"

/* Pieces to work on while the oldest is written and the newest filled. */
enum { SPARE = LR_GZIP_HELD - 1 };

struct lr_gzip_pool {
    rec_job *job;
    int level;
    uint32_t room; /* pieces in the ring: number n, from 0 on, is ring[n % room] */
    uint32_t most; /* threads that may work, the caller's included */
    lr_team *team;
    lr_gzip_piece *ring;
    lr_gzip_encoder *encoders[LR_TEAM_WORKERS]; /* one a thread */
    uint64_t given, taken;                      /* pieces that were */
};

static lr_gzip_piece *piece_of(const lr_gzip_pool *pool, uint64_t number)
{
    return &pool->ring[number % pool->room];
}

/* Deflates a piece, on any thread. */
static void deflate_piece(lr_task *task, unsigned worker)
{
    lr_gzip_piece *piece = (lr_gzip_piece *)task; /* whose first member it is */
    piece->crc = lr_crc32(0, piece->in, piece->size);
    piece->made = lr_gzip_encode(piece->pool->encoders[worker], piece->in, piece->size, piece->last, piece->out);
}

lr_gzip_pool *lr_gzip_pool_new(rec_job *job, int level)
{
    lr_gzip_pool *pool = rec_job_alloc(job, sizeof *pool);
    uint32_t threads = rec_job_threads(job);
    if (!pool) {
        return NULL;
    }
    threads = threads < LR_TEAM_WORKERS ? threads : LR_TEAM_WORKERS;
    *pool = (lr_gzip_pool){.job = job, .level = level, .most = threads, .room = threads + SPARE};
    pool->team = lr_team_new();
    if (!pool->team) {
        (void)rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while the compressor was set up");
        goto failed;
    }
    pool->ring = rec_job_alloc(job, pool->room * sizeof *pool->ring);
    if (!pool->ring) {
        goto failed;
    }
    for (uint32_t i = 0; i < pool->room; i++) {
        pool->ring[i] = (lr_gzip_piece){.task.run = deflate_piece, .pool = pool};
    }
    pool->encoders[0] = lr_gzip_encoder_new(job, level);
    if (!pool->encoders[0]) {
        goto failed;
    }
    return pool;
failed:
    lr_gzip_pool_free(pool);
    return NULL;
}

void lr_gzip_pool_free(lr_gzip_pool *pool)
{
    if (!pool) {
        return;
    }
    while (pool->ring && pool->taken < pool->given) {
        (void)lr_gzip_pool_take(pool); /* its memory is in use */
    }
    lr_team_free(pool->team);
    for (uint32_t i = 0; i < LR_TEAM_WORKERS; i++) {
        lr_gzip_encoder_free(pool->encoders[i]);
    }
    for (uint32_t i = 0; pool->ring && i < pool->room; i++) {
        rec_job_free(pool->job, pool->ring[i].in);
        rec_job_free(pool->job, pool->ring[i].out);
    }
    rec_job_free(pool->job, pool->ring);
    rec_job_free(pool->job, pool);
}

bool lr_gzip_pool_full(const lr_gzip_pool *pool)
{
    return pool->given - pool->taken == pool->room;
}

lr_gzip_piece *lr_gzip_pool_filling(lr_gzip_pool *pool)
{
    lr_gzip_piece *piece = piece_of(pool, pool->given);
    if (!piece->in) {
        piece->in = rec_job_alloc(pool->job, LR_GZIP_PIECE);
    }
    if (!piece->out) {
        piece->out = rec_job_alloc(pool->job, LR_GZIP_ROOM);
    }
    return piece->in && piece->out ? piece : NULL;
}

int32_t lr_gzip_pool_give(lr_gzip_pool *pool)
{
    uint32_t threads = pool->given + 1 < pool->most ? (uint32_t)pool->given + 1 : pool->most;
    lr_gzip_encoder **encoder = &pool->encoders[threads - 1];
    if (!*encoder) {
        *encoder = lr_gzip_encoder_new(pool->job, pool->level);
        if (!*encoder) {
            return REC_E_MEMORY;
        }
    }
    (void)lr_team_post(pool->team, &piece_of(pool, pool->given++)->task, threads);
    return REC_OK;
}

bool lr_gzip_pool_ready(lr_gzip_pool *pool)
{
    return pool->taken < pool->given && lr_team_done(pool->team, &piece_of(pool, pool->taken)->task);
}

const lr_gzip_piece *lr_gzip_pool_take(lr_gzip_pool *pool)
{
    lr_gzip_piece *piece = piece_of(pool, pool->taken);
    if (pool->taken == pool->given) {
        return NULL;
    }
    lr_team_wait(pool->team, &piece->task);
    pool->taken++;
    return piece;
}
