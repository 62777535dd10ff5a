import { createId, h, setText } from './dom.ts'

/** What is wrong with the amount, with a button that corrects it. */
export function createAmountProblem() {
  const text = h('span', { id: createId('problem') })
  let use: () => void = () => undefined
  const button = h('button', { type: 'button', class: 'link', hidden: true, onclick: () => use() })
  const element = h('p', { class: 'problem', role: 'alert', hidden: true }, text, ' ', button)
  return {
    id: text.id,
    element,
    show(message: string, remedy: string, onUse: () => void) {
      use = onUse
      setText(text, message)
      setText(button, remedy)
      button.hidden = remedy === ''
      element.hidden = message === ''
    },
  }
}
