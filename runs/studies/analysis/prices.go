package analysis

import (
	"encoding/json"
	"fmt"

	"github.com/cockroachdb/apd/v3"
)

// PriceList says what a fabric costs and how much power it takes. It is an assumption for
// comparing fabrics with one another: no vendor's prices, and no offer. Classes are ascending. A part costs what the smallest class costs that
// has room for it; above the largest class, what as many parts of that class cost as have room.
type PriceList struct {
	Version    string       `json:"version"`    // changes with every figure
	Currency   string       `json:"currency"`   // ISO 4217
	Assumption string       `json:"assumption"` // where the figures come from, and what they leave out
	Switches   []PriceClass `json:"switches"`   // by the sum of the rates of the connected ports of the largest switch of its kind
	NICs       []PriceClass `json:"nics"`       // by the rate of a NIC
	Copper     []PriceClass `json:"copper"`     // a cable between a NIC and a switch, by its rate
	Optical    []PriceClass `json:"optical"`    // a link between switches with its two transceivers and its fibre, by its rate
	Servers    []PriceClass `json:"servers"`    // without NICs, by the sum of the rates of a server's NICs
}

// PriceClass is a row of the list.
type PriceClass struct {
	Gbps  int64  `json:"gbps"`
	Price string `json:"price"` // of one part, a decimal
	Watts string `json:"watts"` // of one part under load, a decimal
}

// ParsePrices reads a price list that the start of a study has checked.
func ParsePrices(text string) (l PriceList, err error) {
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, fmt.Errorf("read a price list: %w", err)
	}
	return l, nil
}

// CurrentPrices returns the price list. Change Version with any figure, because results name it.
func CurrentPrices() PriceList {
	return PriceList{
		Version: "2026-11-25", Currency: "USD",
		Assumption: "The orders of magnitude of street prices of Ethernet equipment in 2026, rounded, and typical power under load. " +
			"It is an assumption of netsim's authors and no vendor's list. Spare parts, cooling, racks, software, support and " +
			"discounts are left out, and servers unless a study counts them.",
		Switches: []PriceClass{
			{1_600, "5000", "200"}, {3_200, "8000", "300"}, {6_400, "13000", "450"}, {12_800, "20000", "600"},
			{25_600, "35000", "1000"}, {51_200, "60000", "1600"}, {102_400, "110000", "2800"},
		},
		NICs: []PriceClass{
			{25, "250", "10"}, {100, "700", "18"}, {200, "1100", "22"}, {400, "1800", "27"}, {800, "3000", "45"},
		},
		Copper: []PriceClass{
			{25, "30", "0.1"}, {100, "60", "0.1"}, {200, "110", "0.1"}, {400, "180", "0.2"}, {800, "320", "0.2"},
		},
		Optical: []PriceClass{
			{25, "110", "2"}, {100, "230", "7"}, {200, "450", "10"}, {400, "900", "18"}, {800, "1900", "30"},
		},
		Servers: []PriceClass{
			{25, "8000", "400"}, {100, "15000", "600"}, {200, "25000", "800"}, {400, "35000", "1000"}, {800, "50000", "1400"},
		},
	}
}

// Bill is what the parts of a fabric cost, and the power that they take.
type Bill struct {
	Price *apd.Decimal // in the currency of the list
	Watts *apd.Decimal
}

// DecimalText formats a decimal without an exponent and without trailing zeros.
func DecimalText(d *apd.Decimal) string {
	reduced := new(apd.Decimal)
	reduced.Reduce(d)
	return reduced.Text('f')
}

// Bill returns the bill of a fabric, with or without its servers.
func (l *PriceList) Bill(f *Fabric, servers bool) (Bill, error) {
	type kind struct {
		parts   []Parts
		classes []PriceClass
	}
	kinds := []kind{{f.Switches, l.Switches}, {f.NICs, l.NICs}, {f.Copper, l.Copper}, {f.Optical, l.Optical}}
	if servers {
		kinds = append(kinds, kind{f.Servers, l.Servers})
	}
	b := Bill{new(apd.Decimal), new(apd.Decimal)}
	for _, kind := range kinds {
		for _, p := range kind.parts {
			if err := b.add(p, kind.classes); err != nil {
				return b, fmt.Errorf("price list %s: %w", l.Version, err)
			}
		}
	}
	return b, nil
}

// add adds parts of one kind and rate.
func (b *Bill) add(p Parts, classes []PriceClass) error {
	class, times := classes[len(classes)-1], int64(1)
	for i := len(classes) - 1; i >= 0 && classes[i].Gbps*bitsPerGbit >= p.Rate; i-- {
		class = classes[i]
	}
	if room := class.Gbps * bitsPerGbit; room < p.Rate {
		times = (p.Rate + room - 1) / room
	}
	number := apd.New(p.Count*times, 0)
	for _, sum := range []struct {
		total *apd.Decimal
		each  string
	}{{b.Price, class.Price}, {b.Watts, class.Watts}} {
		each, _, err := apd.NewFromString(sum.each)
		if err != nil {
			return fmt.Errorf("class %d: %w", class.Gbps, err)
		}
		// Products and sums of short decimals are exact.
		if _, err = apd.BaseContext.Mul(each, each, number); err == nil {
			_, err = apd.BaseContext.Add(sum.total, sum.total, each)
		}
		if err != nil {
			return fmt.Errorf("class %d: %w", class.Gbps, err)
		}
	}
	return nil
}
