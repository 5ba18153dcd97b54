package chakra

import (
	"fmt"
	"strconv"
	"strings"
)

// RankOf returns the rank in the name of a rank file: rank_<n>.chakra.json or
// <prefix>.<n>.et, both with an optional .gz or .zst (completions.md 6.3). The name does
// not determine the format of the file.
func RankOf(name string) (int, error) {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	if len(name)-len(stem) > len(".zst") {
		stem = name // a rank file's name cannot end in .zst.gz
	}
	digits, ok := "", false
	if inner, isJSON := strings.CutSuffix(stem, ".chakra.json"); isJSON {
		digits, ok = strings.CutPrefix(inner, "rank_")
	} else if inner, isBinary := strings.CutSuffix(stem, ".et"); isBinary {
		dot := strings.LastIndexByte(inner, '.')
		digits, ok = inner[dot+1:], dot > 0
	}
	rank, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil {
		return 0, fmt.Errorf("%s is not the name of a rank file, which is rank_<n>.chakra.json or <prefix>.<n>.et", name)
	}
	return int(rank), nil
}
