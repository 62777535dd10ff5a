import type { Flow } from '@swapyard/sdk'
import { createId, h } from './dom.ts'
import { labels } from './labels.ts'

/** Two radio buttons that look like one switch. */
export function createFlowChoice(initial: Flow, onChange: () => void) {
  const name = createId('flow')
  const radio = (flow: Flow) =>
    h('input', { type: 'radio', name, value: flow, checked: flow === initial, onchange: onChange })
  const [floating, fixed] = [radio('standard'), radio('fixed-rate')]
  const element = h(
    'fieldset',
    { class: 'flow', part: 'flow' },
    h('legend', { class: 'hidden' }, labels.form.flow),
    h('label', {}, floating, h('span', {}, labels.form.floating)),
    h('label', {}, fixed, h('span', {}, labels.form.fixed)),
  )
  return {
    element,
    value: (): Flow => (fixed.checked && !fixed.disabled ? 'fixed-rate' : 'standard'),
    /** Some currencies have no fixed rate. */
    setFixedAllowed(isAllowed: boolean) {
      fixed.disabled = !isAllowed
      if (!isAllowed) floating.checked = true
    },
  }
}
