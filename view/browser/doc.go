// Package browser has the tests of package view's page in a browser. It is a module of its own, so that who imports view
// has nothing of what drives a browser. The tests need Chromium (Debian's package chromium); without it, they are skipped.
package browser
