// Package safefile opens regular files only.
//
// Another program may replace a file, such as a token, by a pipe or a device, on purpose or by
// mistake. To open a pipe waits for a writer, and no context ends this wait. To read a device may
// never end. Open checks the file after opening it, because a program may replace the file between
// a check of the path and the opening.
//
// Guarantees, on systems with Unix's flags of open:
//
//   - Neither Open nor Read waits for another process to open the other end of a pipe.
//   - The file that Open returns is a regular file.
//   - Read keeps at most limit bytes in memory.
//
// Other systems have no pipes in the file system; there, Open only checks the path before the
// opening. On all systems, a disk that does not respond blocks both functions.
package safefile
