// Stands in for the functions of SQLite's snapshots where the library was built without them, as Debian's
// is. GRDB links to them, and does without where they report an error.
#ifndef CSNAPSHOT_H
#define CSNAPSHOT_H

/// Keeps the linker from leaving this library out.
void snapshots_are_missing(void);

#endif
