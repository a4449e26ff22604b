package rest

// feedSize is the size of the buffers that are filled from the network.
const feedSize = 64 << 10
