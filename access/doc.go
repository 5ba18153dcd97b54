// Package access says who may see and do what (completions.md section 1.6),
// once for single reads, lists and writes. README.md has the rules in a table.
package access
