// What a program of its own does with the rows: peer parse|import FILE [DATABASE]. It parses with simdjson
// and saves into SQLite with one prepared statement, in one transaction. It takes the file to be sound.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <simdjson.h>
#include <sqlite3.h>

using simdjson::dom::element;

static void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "peer: %s\n", what);
  exit(1);
}

static void bind(sqlite3_stmt *statement, int place, std::string_view text) {
  sqlite3_bind_text(statement, place, text.data(), (int)text.size(), SQLITE_STATIC);
}

struct Database {
  sqlite3 *connection = nullptr;
  sqlite3_stmt *insert = nullptr;

  void execute(const char *text) {
    require(sqlite3_exec(connection, text, nullptr, nullptr, nullptr) == SQLITE_OK, text);
  }

  explicit Database(const char *path) {
    require(sqlite3_open(path, &connection) == SQLITE_OK, path);
    execute("CREATE TABLE IF NOT EXISTS contacts (id TEXT PRIMARY KEY, name, phone, address, city,"
            " \"order\", balance, updatedAt, tags, active, lat, lon, label)");
    const char *text = "INSERT OR REPLACE INTO contacts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)";
    require(sqlite3_prepare_v2(connection, text, -1, &insert, nullptr) == SQLITE_OK, text);
    execute("BEGIN");
  }

  void save(element row) {
    static const char *const texts[] = {"id", "name", "phone", "address", "city"};
    for (int place = 0; place < 5; place++) bind(insert, place + 1, row[texts[place]].get_string());
    sqlite3_bind_int64(insert, 6, row["order"].get_int64());
    sqlite3_bind_double(insert, 7, row["balance"].get_double());
    sqlite3_bind_double(insert, 8, row["updatedAt"].get_double());
    std::string tags = simdjson::minify(row["tags"]);
    bind(insert, 9, tags);
    sqlite3_bind_int(insert, 10, (bool)row["active"].get_bool());
    element geo, label;
    bool has_geo = !row["geo"].get(geo) && geo.is_object();
    if (has_geo) {
      sqlite3_bind_double(insert, 11, geo["lat"].get_double());
      sqlite3_bind_double(insert, 12, geo["lon"].get_double());
    }
    if (has_geo && !geo["label"].get(label) && label.is_string()) {
      bind(insert, 13, label.get_string());
    }
    require(sqlite3_step(insert) == SQLITE_DONE, "a row cannot be saved");
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
  }

  long long finish() {
    sqlite3_finalize(insert);
    execute("COMMIT");
    sqlite3_stmt *count;
    sqlite3_prepare_v2(connection, "SELECT count(*) FROM contacts", -1, &count, nullptr);
    require(sqlite3_step(count) == SQLITE_ROW, "rows cannot be counted");
    long long result = sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    sqlite3_close(connection);
    return result;
  }
};

int main(int count, char **words) {
  require(count >= 3, "peer parse|import FILE [DATABASE]");
  std::unique_ptr<Database> database;
  if (count > 3) database = std::make_unique<Database>(words[3]);
  FILE *file = fopen(words[2], "r");
  require(file != nullptr, words[2]);
  // Whole lines of a megabyte at a time, so that memory does not grow with the file.
  const size_t room = 1 << 20;
  simdjson::padded_string text(2 * room);
  simdjson::dom::parser parser;
  size_t kept = 0, rows = 0;
  while (size_t read = fread(text.data() + kept, 1, room, file)) {
    size_t end = kept + read, whole = end;
    while (whole > 0 && text.data()[whole - 1] != '\n') whole--;
    require(whole > 0, "a line is too long");
    simdjson::dom::document_stream lines;
    require(!parser.parse_many((const uint8_t *)text.data(), whole, 2 * room).get(lines), "no JSON");
    for (auto line : lines) {
      element row;
      require(!line.get(row), "a line is no JSON");
      if (database) database->save(row);
      rows++;
    }
    kept = end - whole;
    memmove(text.data(), text.data() + whole, kept);
    require(kept <= room, "a line is too long");
  }
  fclose(file);
  printf("%lld\n", database ? database->finish() : (long long)rows);
  return 0;
}
