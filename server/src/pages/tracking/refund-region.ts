import { type Html, html } from '../../lib/html.ts'
import { codeText } from './amount-text.ts'
import { fill, isolate, type Locale } from './languages/locale.ts'
import type { Texts } from './languages/texts.ts'
import type { ShownExchange } from './shown-exchange.ts'

export type RefundProblem = keyof Texts['refundErrors']
/** The form as it was sent, with what was wrong; or the address in its canonical form, to be confirmed. */
export type RefundForm = Readonly<{
  step: 'enter' | 'confirm'
  address: string
  memo: string
  problem: RefundProblem | null
}>

export const emptyForm: RefundForm = { step: 'enter', address: '', memo: '', problem: null }
/** The length that the API allows. */
export const FIELD_LENGTH_MAX = 256

/** Asks for the refund address that a refund waits for. Null if none is needed. */
export function refundRegion(shown: ShownExchange, action: string, form: RefundForm, locale: Locale): Html | null {
  const { tracked, from, takesRefundAddress } = shown
  const { texts } = locale
  if (!tracked.needsRefundAddress && form.problem === null) return null
  const names = { currency: isolate(from.symbol), network: isolate(from.networkName), memo: isolate(from.memoName) }
  const problem =
    form.problem &&
    html`<p class="problem" id="refund-problem" role="alert">${fill(texts.refundErrors[form.problem], names)}</p>`
  const body = !takesRefundAddress
    ? (problem ?? html`<p>${texts.refund.askService}</p>`)
    : form.step === 'confirm'
      ? confirmForm(shown, action, form, locale)
      : entryForm(shown, action, form, problem, fill(texts.refund.intro, names), locale)
  const heading = takesRefundAddress && form.step === 'confirm' ? texts.refund.confirmHeading : texts.refund.heading
  return html`<section class="attention" aria-labelledby="refund-heading">
<h2 id="refund-heading">${heading}</h2>
${body}
</section>`
}

function entryForm(
  { from }: ShownExchange,
  action: string,
  { address, memo, problem }: RefundForm,
  problemText: Html | null,
  intro: Html,
  { texts }: Locale,
): Html {
  const hasMemo = from.network !== null && from.network.memo !== 'none'
  const wrongField = problem === 'memoRequired' || problem === 'memoInvalid' ? 'memo' : 'address'
  const describe = (field: 'address' | 'memo', hint: string) =>
    problem !== null && wrongField === field
      ? html`aria-invalid="true" aria-describedby="refund-problem ${hint}"`
      : html`aria-describedby="${hint}"`
  return html`<p>${intro}</p>
${problemText}
<form method="post" action="${action}">
<label for="refund-address">${texts.refund.address}</label>
<input id="refund-address" name="address" dir="ltr" required maxlength="${FIELD_LENGTH_MAX}" autocomplete="off" autocapitalize="none" spellcheck="false" value="${address}" ${describe('address', 'refund-warning')}>
${
  hasMemo
    ? html`<label for="refund-memo">${isolate(from.memoName)}</label>
<input id="refund-memo" name="memo" dir="ltr" maxlength="${FIELD_LENGTH_MAX}" autocomplete="off" value="${memo}" ${describe('memo', 'refund-memo-hint')}>
<p class="quiet" id="refund-memo-hint">${texts.refund.memoHint}</p>`
    : null
}
<p class="quiet" id="refund-warning">${texts.refund.warning}</p>
<button name="act" value="check">${texts.refund.next}</button>
</form>`
}

function confirmForm({ from }: ShownExchange, action: string, { address, memo }: RefundForm, { texts }: Locale): Html {
  return html`<p>${texts.refund.confirmNote}</p>
<dl>
<dt>${texts.refund.address}</dt><dd class="large">${codeText(address)}</dd>
<dt>${texts.pay.network}</dt><dd>${isolate(from.networkName)}</dd>
${memo === '' ? null : html`<dt>${isolate(from.memoName)}</dt><dd>${codeText(memo)}</dd>`}
</dl>
<form method="post" action="${action}">
<input type="hidden" name="address" value="${address}">
<input type="hidden" name="memo" value="${memo}">
<button name="act" value="confirm">${texts.refund.confirm}</button>
<button name="act" value="change" class="second">${texts.refund.change}</button>
</form>`
}
