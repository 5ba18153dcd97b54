package prices

import "testing"

// FuzzRead reads price lists that nobody would write. Each is read or refused.
func FuzzRead(f *testing.F) {
	f.Add([]byte("rates: []\n"))
	f.Add([]byte("rates:\n  - {rateName: cluster, rateType: simple, amount: '1', currency: CREDIT}\n"))
	f.Add([]byte(`{"postpaid": ["acct_1"]}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = Read(text) //nolint:errcheck // any error will do
	})
}
