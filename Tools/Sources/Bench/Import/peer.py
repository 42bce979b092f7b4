"""What a script of ten lines does with the rows: peer.py parse-ndjson|parse-csv|import|export FILE [DATABASE]"""
import csv, json, sqlite3, sys

NAMES = "id name phone address city order balance updatedAt tags active".split()


def values(row):
    geo = row.get("geo") or {}
    row["tags"] = json.dumps(row["tags"])
    return [row[name] for name in NAMES] + [geo.get(name) for name in ("lat", "lon", "label")]


def store(path, database):
    connection = sqlite3.connect(database)
    columns = ", ".join(f'"{name}"' for name in NAMES[1:] + ["lat", "lon", "label"])
    connection.execute(f"CREATE TABLE IF NOT EXISTS contacts (id TEXT PRIMARY KEY, {columns})")
    insert = f"INSERT OR REPLACE INTO contacts VALUES ({', '.join('?' * 13)})"
    with open(path) as lines:
        connection.executemany(insert, (values(json.loads(line)) for line in lines))
    connection.commit()
    return connection.execute("SELECT count(*) FROM contacts").fetchone()[0]


def export(path, database):
    count = 0
    with open(path, "w") as file:
        for row in sqlite3.connect(database).execute("SELECT * FROM contacts ORDER BY id"):
            document = dict(zip(NAMES, row))
            document["tags"] = json.loads(document["tags"])
            document["active"] = bool(document["active"])
            document["geo"] = dict(zip(("lat", "lon", "label"), row[10:])) if row[10] is not None else None
            file.write(json.dumps(document, ensure_ascii=False) + "\n")
            count += 1
    return count


what, path = sys.argv[1:3]
if what == "parse-ndjson":
    with open(path) as lines:
        print(sum(1 for line in lines if json.loads(line)))
elif what == "parse-csv":
    with open(path, newline="") as lines:
        print(sum(1 for row in csv.reader(lines)) - 1)
else:
    print((store if what == "import" else export)(path, sys.argv[3]))
