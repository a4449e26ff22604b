package main

// enough is the soft limit of the program's memory. Above it, garbage is collected more often.
const enough = 256 << 20

// window is the number of changes that the API server keeps. A change takes some 23 KB after it was
// sent as JSON. The default of 10,000 changes would fill the memory with live data, and the single
// thread of the tab would only collect garbage.
const window = 4000
