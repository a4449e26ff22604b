// Package browser tests package view's page in a browser. It is a module of its own, so that
// importers of view do not depend on a browser driver. The tests need Chromium (Debian's package
// chromium), and are skipped without it.
package browser
