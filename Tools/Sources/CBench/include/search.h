// SQLite's full-text search, FTS5, driven directly from C: titles and bodies in a table, and an index over
// both that triggers keep and that holds no text of its own (an external content table, detail=full).
#ifndef CBENCH_SEARCH_H
#define CBENCH_SEARCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct bench_search bench_search;

/// Opens the database in an existing folder, creating it if the folder is empty. With `is_searched` it has the
/// index and the triggers. Its functions end the program where SQLite refuses something.
bench_search *bench_search_open(const char *folder, int is_searched);
void bench_search_close(bench_search *database);

void bench_search_begin(bench_search *database);
void bench_search_commit(bench_search *database);

/// Inserts a text, or replaces it; in a transaction of its own where none has begun.
void bench_search_save(
  bench_search *database, int64_t id, const char *title, const char *body);

/// Makes the index if there is none, and indexes all texts.
void bench_search_build(bench_search *database);

/// Merges the index into one segment, as small and as fast as it gets.
void bench_search_optimize(bench_search *database);

/// Bytes of the pages that hold the index.
int64_t bench_search_byte_count(bench_search *database);

/// What a search has found.
typedef struct {
  int64_t count;
  /// Bytes of titles and bodies that were read.
  int64_t byte_count;
} bench_search_result;

/// The `limit` best texts, titles counted three times, each read whole.
bench_search_result bench_search_best(bench_search *database, const char *match, int64_t limit);

/// How many texts there are to be found.
int64_t bench_search_count(bench_search *database, const char *match);

#endif
