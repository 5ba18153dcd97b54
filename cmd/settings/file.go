package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// FileSuffix is what the variable that names a file with a secret ends in.
const FileSuffix = "_FILE"

// maxSecret is the size in bytes above which a file is not taken for a secret.
const maxSecret = 64 << 10

// fromFile reads a secret from the file that the variable with the suffix _FILE names.
func fromFile(environment map[string]string, name string) error {
	path := environment[name+FileSuffix]
	if path == "" {
		return nil
	}
	if environment[name] != "" {
		return fmt.Errorf("%s and %s_FILE are both set: it must be one of them", name, name)
	}
	secret, err := readSecret(path)
	if err != nil {
		return fmt.Errorf("%s_FILE is %q: it must be a file with the secret: %w", name, path, err)
	}
	environment[name] = secret
	return nil
}

// readSecret reads a secret from a file, without the line ends at its end. The file may be
// a pipe. A file that all users may read is accepted, because Kubernetes mounts secrets
// so.
func readSecret(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", errors.New("it is a directory")
	case info.Mode().IsRegular() && info.Mode().Perm()&0o002 != 0:
		return "", fmt.Errorf("every user may write it (mode %04o); take that right away with chmod o-w", info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	secret := strings.TrimRight(string(text), "\r\n")
	switch {
	case err != nil:
		return "", err
	case len(text) > maxSecret:
		return "", fmt.Errorf("it has more than %d KiB", maxSecret>>10)
	case secret == "":
		return "", errors.New("the file is empty")
	case !utf8.ValidString(secret) || strings.Contains(secret, "\x00"):
		return "", errors.New("it is not text in UTF-8")
	}
	return secret, nil
}
