package api

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// negotiate picks the offer that the Accept header wants most (RFC 9110, 12.5.1).
// Of equal ones that which it names more closely wins, then the earlier offer.
// Without a header, or if it wants none of them, the first offer is taken: an
// answer in the usual form helps more than a refusal.
func negotiate(h http.Header, offers ...string) string {
	ranges := acceptRanges(h)
	best, chosen := want{}, offers[0]
	for _, offer := range offers {
		if w := wanted(ranges, offer); w.better(best) {
			best, chosen = w, offer
		}
	}
	return chosen
}

// want is how much an offer is wanted, and how closely it was named.
type want struct {
	quality float64
	near    int // 1 for */*, 2 for type/*, 3 for type/subtype
}

func (w want) better(v want) bool {
	return w.quality > v.quality || w.quality == v.quality && w.quality > 0 && w.near > v.near
}

// wanted goes by the closest range that covers the offer, and of several of
// these, which differ in parameters that do not matter here, by the best.
func wanted(ranges []acceptRange, offer string) want {
	var w want
	for _, r := range ranges {
		near := r.covers(offer)
		if near > w.near || near > 0 && near == w.near && r.quality > w.quality {
			w = want{r.quality, near}
		}
	}
	return w
}

// acceptRange is one item of an Accept header.
type acceptRange struct {
	media   string // type/subtype in lower case; each may be *
	quality float64
}

func (r acceptRange) covers(offer string) int {
	family, _, _ := strings.Cut(offer, "/")
	return slices.Index([]string{"*/*", family + "/*", offer}, r.media) + 1
}

// acceptRanges leaves out what it cannot read.
func acceptRanges(h http.Header) []acceptRange {
	var ranges []acceptRange
	for _, item := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(item)
		if err != nil {
			continue
		}
		if q, ok := quality(params); ok {
			ranges = append(ranges, acceptRange{media, q})
		}
	}
	return ranges
}

func quality(params map[string]string) (float64, bool) {
	text, given := params["q"]
	if !given {
		return 1, true
	}
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}
