package mapping

import (
	"encoding/base64"
	"encoding/binary"
	"hash"
	"hash/crc64"
)

// polynomial is that of CRC-64/NVME, with its bits reversed.
const polynomial = 0x9a6c9329ac4bc9b5

// NewChecksum returns a CRC64NVME, the checksum under which a mapping file is
// stored.
func NewChecksum() hash.Hash64 { return crc64.New(crc64.MakeTable(polynomial)) }

// FormatChecksum formats a checksum for the hash member of a mapping file:
// "crc64nvme:" and the unpadded base64url of its 8 big-endian bytes
// (completions.md 6.6).
func FormatChecksum(sum uint64) string {
	return "crc64nvme:" + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, sum))
}
