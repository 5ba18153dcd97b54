package readapi_test

import (
	"os"
	"testing"

	"netsim/infra/engines/scripted"
)

func TestMain(m *testing.M) { os.Exit(scripted.Main(m)) }
