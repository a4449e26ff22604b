package sharing

import "encoding/binary"

// A goroutine keeps the last entries with short keys, at positions that depend on a few bytes of
// the key. To find one of them, it only compares bytes. Computing a hash and searching the table,
// which other cores use as well, takes several times as long. Most values that repeat come again
// soon: the "True" of a condition, the names of environment variables.
const (
	localCacheBits = 8
	maxLocalKey    = 128 // in bytes; for a longer key, comparing costs about as much as hashing
)

// localCache has the last entries of a goroutine. It is emptied every few dozen objects, so that it
// does not keep entries alive for long after the table has dropped them.
type localCache [1 << localCacheBits]*entry

// slotFor returns the position for an entry with this key.
func (n *localCache) slotFor(typeID int, key []byte) **entry {
	var bits uint64
	switch size := len(key); {
	case size >= 8:
		bits = binary.LittleEndian.Uint64(key) ^ binary.LittleEndian.Uint64(key[size-8:])<<1
	case size >= 4:
		bits = uint64(binary.LittleEndian.Uint32(key))<<32 | uint64(binary.LittleEndian.Uint32(key[size-4:]))
	default:
		bits = uint64(key[0])<<16 | uint64(key[size/2])<<8 | uint64(key[size-1])
	}
	bits ^= uint64(len(key)) ^ uint64(typeID)<<8
	return &n[bits*0x9e3779b97f4a7c15>>(64-localCacheBits)]
}
