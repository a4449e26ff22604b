// Package regular opens files, and nothing else that may stand under a path.
//
// A file that somebody else replaces, such as a token, may become a pipe or a device by
// malice or by mistake. Opening a pipe waits for a writer, and no context ends that wait;
// reading a device may have no end. Open looks at what it has opened, and not at what
// stood under the path before: somebody may swap the two in between.
//
// Guarantees, on systems with Unix's flags of open:
//
//   - Neither Open nor Read waits for another process to open the other end of a pipe.
//   - The file that Open returns is a regular one.
//   - Read holds no more bytes than it was allowed.
//
// On other systems there are no pipes among the files, and a look before the opening is
// all there is. A disk that does not answer holds up both functions everywhere.
package regular
