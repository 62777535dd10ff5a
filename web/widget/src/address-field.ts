import { type Currency, type Problem, SwapyardError } from '@swapyard/sdk'
import { networkOf, tickerOf } from './currencies.ts'
import { createId, h, set, setText } from './dom.ts'
import { describeProblem } from './failures.ts'
import { labels } from './labels.ts'
import type { Widget } from './widget.ts'

export type AddressField = Readonly<{
  element: HTMLElement
  setCurrency(currency: Currency): void
  setValue(address: string): void
  /** Texts that are empty are absent. */
  value(): Readonly<{ address: string; memo: string }>
  /** Asks the API. True if nothing is wrong, or if the API does not answer: the create checks again. */
  check(): Promise<boolean>
  showProblem(part: 'address' | 'memo', problem: Problem): void
  /** Focuses the first part that is wrong. */
  focusProblem(): boolean
}>

type Texts = Readonly<{ label(ticker: string): string; hint(network: string): string; memo(name: string): string }>

/** An address, with its memo where the network has one. */
export function createAddressField({ api, signal }: Widget, texts: Texts, isOptional: boolean): AddressField {
  const address = createTextField(isOptional)
  const memo = createTextField(false)
  let currency: Currency | null = null
  let checks = 0
  const showProblem: AddressField['showProblem'] = (part, problem) =>
    (part === 'memo' && !memo.element.hidden ? memo : address).setProblem(describeProblem(problem))
  const value = () => ({
    address: address.input.value.trim(),
    memo: memo.element.hidden ? '' : memo.input.value.trim(),
  })

  const check = async (): Promise<boolean> => {
    const { address: text, memo: memoText } = value()
    checks += 1
    const thisCheck = checks
    if (text === '' && isOptional) return true
    if (text === '') {
      address.setProblem(describeProblem({ code: 'INVALID_ADDRESS' }))
      return false
    }
    if (currency === null) return false
    const { ticker, network } = currency
    try {
      const query = { currency: ticker, network, address: text, ...(memoText === '' ? {} : { memo: memoText }) }
      const { valid, errors } = await api.validateAddress(query, { signal, retries: 0 })
      // Typed on since then.
      if (thisCheck !== checks) return false
      for (const problem of errors) showProblem(problem.field === 'memo' ? 'memo' : 'address', problem)
      return valid
    } catch (error) {
      return error instanceof SwapyardError
    }
  }
  for (const field of [address, memo]) {
    field.input.addEventListener('input', () => {
      checks += 1
      field.setProblem('')
    })
    field.input.addEventListener('change', () => {
      // Without the memo that the user types next, the check would be too early.
      if (address.input.value !== '' && (field === memo || memo.element.hidden)) void check()
    })
  }
  return {
    element: h('div', { class: 'address' }, address.element, memo.element),
    value,
    check,
    showProblem,
    setValue: (text) => {
      address.input.value = text
    },
    setCurrency: (next) => {
      if (next === currency) return
      currency = next
      checks += 1
      address.setTexts(texts.label(tickerOf(next)), texts.hint(networkOf(next)))
      memo.setTexts(texts.memo(next.memoName ?? 'Memo'), '')
      memo.element.hidden = !next.hasMemo
      set(memo.input, 'aria-required', next.requireMemo && !isOptional)
      for (const field of [address, memo]) field.setProblem('')
    },
    focusProblem: () => [address, memo].some((field) => field.focusProblem()),
  }
}

function createTextField(isOptional: boolean) {
  const label = h('label', { for: createId('text') })
  const name = h('span')
  label.append(name)
  if (isOptional) label.append(' ', h('span', { class: 'quiet' }, `(${labels.form.optional})`))
  const hint = h('p', { id: createId('hint'), class: 'quiet hint' })
  const problem = h('p', { id: createId('problem'), class: 'problem', role: 'alert', hidden: true })
  const input = h('input', {
    id: label.htmlFor,
    class: 'text',
    part: 'input',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    maxlength: 256,
    'aria-required': !isOptional,
    'aria-describedby': `${problem.id} ${hint.id}`,
  })
  return {
    element: h('div', { class: 'field' }, label, input, problem, hint),
    input,
    setTexts: (title: string, note: string) => {
      setText(name, title)
      setText(hint, note)
      hint.hidden = note === ''
    },
    setProblem: (text: string) => {
      setText(problem, text)
      problem.hidden = text === ''
      set(input, 'aria-invalid', text === '' ? null : 'true')
    },
    focusProblem: () => {
      if (problem.hidden) return false
      input.focus()
      return true
    },
  }
}
