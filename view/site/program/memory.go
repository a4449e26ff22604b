package main

// memoryLimit is the soft limit of the program's memory. Above it, garbage is collected more often.
const memoryLimit = 256 << 20

// window is the number of changes that the API server keeps. A change takes some 23 KB once it has
// been sent as JSON. The default of 10,000 changes would fill the memory with live data. The tab's
// only thread would then only collect garbage.
const window = 4000
