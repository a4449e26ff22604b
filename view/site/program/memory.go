package main

// enough is how much memory the program should have. From there on, garbage is collected more often.
const enough = 256 << 20

// window is how many changes the API server remembers. In JSON each takes some 23 KB: the 10,000 of other laboratories would fill
// what is enough with what cannot be collected, and the one thread of the tab would do nothing but try.
const window = 4000
