// Package regular opens regular files only.
//
// A file that another program replaces, such as a token, may become a pipe or a device, by malice or by
// mistake. Opening a pipe waits for a writer, and no context ends that wait. Reading a device may have
// no end. Open checks the file after it has opened it: between a check of the path and the opening,
// somebody may replace the file.
//
// Guarantees, on systems with Unix's flags of open:
//
//   - Neither Open nor Read waits for another process to open the other end of a pipe.
//   - The file that Open returns is a regular one.
//   - Read holds no more bytes than its limit.
//
// Other systems have no pipes among the files; there, Open only checks the path before the opening. On
// all systems, a disk that does not answer holds up both functions.
package regular
