// Package bind leads calls that came through the door to the methods that answer them.
// Its generated part unpacks arguments and stores results; here is what they share.
package bind

import "kudzu/internal/logx"

// Report says, once a function, why a call could not be served. A stack means that the
// mistake is ours; it is shown to those who ask for everything.
func Report(call string, cause any, stack []byte) {
	if stack == nil {
		logx.Once("call "+call, "%s: %v", call, cause)
		return
	}
	logx.Once("panic "+call, "%s: %v (a mistake in Kudzu; KUDZU_LOG=debug shows where)", call, cause)
	if logx.On(logx.Debug) {
		logx.Text(stack)
	}
}
