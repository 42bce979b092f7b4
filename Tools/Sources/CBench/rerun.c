#include "include/rerun.h"

#include <stdlib.h>

#include "check.h"
#include "sqlite_engine.h"

bench_rerun bench_sqlite_rerun(
  bench_sqlite *database, const bench_workload *workload, int64_t order
) {
  size_t count;
  bench_contact *page = bench_page_make(workload, false, &count);
  bench_contact changed = page[0];
  free(page);
  changed.order = order;
  double before = bench_now();
  sqlite_upsert(database, &changed);
  double start = bench_now();
  bench_rerun result = {0};
  document_list list = sqlite_read_city(database, 0);
  double end = bench_now();
  result.seconds = end - start;
  result.seconds_with_save = end - before;
  result.count = list.count;
  result.checksum = list_glance(&list);
  list_release(&list);
  return result;
}

double bench_sqlite_durable_puts(
  bench_sqlite *database, const bench_workload *workload, size_t count
) {
  double seconds = 0;
  for (size_t i = 0; i < count; i++) {
    bench_contact contact = workload->contacts[i * 7919 % workload->count];
    contact.balance += (double)(i + 1);
    double start = bench_now();
    sqlite_upsert(database, &contact);
    seconds += bench_now() - start;
  }
  return seconds;
}
