/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The ring of pieces and the threads that work on it. */
#include "plugins/codec/gzip/pool.h"

#include "plugins/codec/gzip/sum.h"
#include "plugins/codec/threads.h"

/* More have nothing to do: one thread fills and writes. */
enum { THREADS_MOST = 16 };
/* Pieces to work on while the oldest is written and the newest filled. */
enum { SPARE = LR_GZIP_HELD - 1 };

typedef struct worker {
    lr_gzip_pool *pool;
    lr_gzip_encoder *encoder;
    pthread_t thread;
} worker;

struct lr_gzip_pool {
    rec_job *job;
    int level;
    uint32_t room;    /* pieces in the ring: number n, from 0 on, is ring[n % room] */
    uint32_t most;    /* threads that may be had beside the caller's */
    uint32_t started; /* threads */
    bool locks;       /* the lock and the conditions are there */
    lr_gzip_piece *ring;
    lr_gzip_encoder *encoder; /* the caller's thread's */
    uint64_t taken;           /* pieces that were taken; the caller's thread's own */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    /* under the lock */
    uint64_t given; /* pieces that were given */
    uint64_t begun; /* pieces that somebody has begun to deflate */
    bool end;       /* nothing more is to be done */
    worker workers[THREADS_MOST - 1];
};

static lr_gzip_piece *piece_of(const lr_gzip_pool *pool, uint64_t number)
{
    return &pool->ring[number % pool->room];
}

/* Deflates the next piece that nobody has begun. The lock is held, and given away meanwhile. */
static void deflate_next(lr_gzip_pool *pool, lr_gzip_encoder *encoder)
{
    lr_gzip_piece *piece = piece_of(pool, pool->begun++);
    (void)pthread_mutex_unlock(&pool->lock);
    piece->crc = lr_gzip_crc(0, piece->in, piece->size);
    piece->made = lr_gzip_encode(encoder, piece->in, piece->size, piece->last, piece->out);
    (void)pthread_mutex_lock(&pool->lock);
    piece->done = true;
}

static void *run(void *user)
{
    worker *self = user;
    lr_gzip_pool *pool = self->pool;
    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->end) {
        if (pool->begun == pool->given) {
            (void)pthread_cond_wait(&pool->work, &pool->lock);
        } else {
            deflate_next(pool, self->encoder);
            (void)pthread_cond_signal(&pool->done);
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* One more, if it may be. */
static int32_t start(lr_gzip_pool *pool)
{
    worker *next = &pool->workers[pool->started];
    if (pool->started == pool->most) {
        return REC_OK;
    }
    if (!next->encoder) {
        next->encoder = lr_gzip_encoder_new(pool->job, pool->level);
        if (!next->encoder) {
            return REC_E_MEMORY;
        }
    }
    next->pool = pool;
    if (lr_codec_thread(&next->thread, run, next)) {
        pool->started++;
    } else {
        pool->most = pool->started;
    }
    return REC_OK;
}

static bool make_locks(lr_gzip_pool *pool)
{
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&pool->work, NULL) != 0) {
        goto no_work;
    }
    if (pthread_cond_init(&pool->done, NULL) != 0) {
        goto no_done;
    }
    return true;
no_done:
    (void)pthread_cond_destroy(&pool->work);
no_work:
    (void)pthread_mutex_destroy(&pool->lock);
    return false;
}

lr_gzip_pool *lr_gzip_pool_new(rec_job *job, int level)
{
    lr_gzip_pool *pool = rec_job_alloc(job, sizeof *pool);
    uint32_t threads = rec_job_threads(job);
    if (!pool) {
        return NULL;
    }
    threads = threads < THREADS_MOST ? threads : THREADS_MOST;
    *pool = (lr_gzip_pool){.job = job, .level = level, .most = threads - 1};
    pool->room = threads + SPARE;
    pool->locks = make_locks(pool);
    if (!pool->locks) {
        (void)rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while the compressor was set up");
        goto failed;
    }
    pool->ring = rec_job_alloc(job, pool->room * sizeof *pool->ring);
    if (!pool->ring) {
        goto failed;
    }
    for (uint32_t i = 0; i < pool->room; i++) {
        pool->ring[i] = (lr_gzip_piece){0};
    }
    pool->encoder = lr_gzip_encoder_new(job, level);
    if (!pool->encoder) {
        goto failed;
    }
    return pool;
failed:
    lr_gzip_pool_free(pool);
    return NULL;
}

static void end_threads(lr_gzip_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->end = true;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->started; i++) {
        (void)pthread_join(pool->workers[i].thread, NULL);
    }
    (void)pthread_cond_destroy(&pool->done);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_mutex_destroy(&pool->lock);
}

void lr_gzip_pool_free(lr_gzip_pool *pool)
{
    if (!pool) {
        return;
    }
    if (pool->locks) {
        end_threads(pool);
    }
    for (uint32_t i = 0; i < THREADS_MOST - 1; i++) {
        lr_gzip_encoder_free(pool->workers[i].encoder);
    }
    lr_gzip_encoder_free(pool->encoder);
    for (uint32_t i = 0; pool->ring && i < pool->room; i++) {
        rec_job_free(pool->job, pool->ring[i].in);
        rec_job_free(pool->job, pool->ring[i].out);
    }
    rec_job_free(pool->job, pool->ring);
    rec_job_free(pool->job, pool);
}

/* `given` is written by the caller's thread alone, which may read it without the lock. */
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
    int32_t status = pool->given > 0 ? start(pool) : REC_OK;
    (void)pthread_mutex_lock(&pool->lock);
    pool->given++;
    (void)pthread_cond_signal(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    return status;
}

bool lr_gzip_pool_ready(lr_gzip_pool *pool)
{
    bool ready = false;
    if (pool->taken < pool->given) {
        (void)pthread_mutex_lock(&pool->lock);
        ready = piece_of(pool, pool->taken)->done;
        (void)pthread_mutex_unlock(&pool->lock);
    }
    return ready;
}

const lr_gzip_piece *lr_gzip_pool_take(lr_gzip_pool *pool)
{
    lr_gzip_piece *piece = piece_of(pool, pool->taken);
    if (pool->taken == pool->given) {
        return NULL;
    }
    (void)pthread_mutex_lock(&pool->lock);
    while (!piece->done) {
        if (pool->begun < pool->given) {
            deflate_next(pool, pool->encoder);
        } else {
            (void)pthread_cond_wait(&pool->done, &pool->lock);
        }
    }
    piece->done = false;
    (void)pthread_mutex_unlock(&pool->lock);
    pool->taken++;
    return piece;
}
