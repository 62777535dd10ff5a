const PLAIN = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const FORM = 'must be a plain decimal amount above zero, such as 0.01'

/** What is wrong with the form of a decimal. The first match is the reason. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/\s/, 'it contains a space'],
  [/^[+-]/, 'it starts with a sign'],
  [/^[0-9.]+[eE]/, 'it has an exponent'],
  [/[0-9.][,_'][0-9.]/, 'it has a separator'],
  [/^0[0-9]/, 'it has leading zeros'],
  [/^\.|\.$/, 'the point needs digits on both sides'],
]

/** Why a text is no amount, without the text: it may be long, and a page may interpret it as markup. */
export function explainAmount(sent: unknown, [before, behind]: readonly [before: number, behind: number]): string {
  const text = typeof sent === 'string' ? sent : ''
  if (PLAIN.test(text) && /[1-9]/.test(text))
    return `may have ${before} digits before the point and ${behind} behind it at most`
  const reason = explainForm(text)
  return reason === null ? FORM : `${FORM}: ${reason}`
}

/** What is wrong with the form of a decimal; null if nothing, or nothing of these. */
export function explainForm(text: string): string | null {
  const found = forms.find(([form]) => form.test(text))
  return found === undefined ? null : found[1]
}
