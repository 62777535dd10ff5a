import type { Currency } from '@swapyard/sdk'
import { tickerOf } from './currencies.ts'
import { h } from './dom.ts'

/** A page whose policy allows no images from the API gets letters, after one attempt. */
let areBlocked = false

/** The currency's picture above its first letter. */
export function currencyIcon(currency: Currency, origin: string): HTMLElement {
  const icon = h('span', { class: 'icon', 'aria-hidden': 'true' }, tickerOf(currency).slice(0, 1))
  if (areBlocked || !URL.canParse(currency.image)) return icon
  const image = h('img', {
    src: origin + new URL(currency.image).pathname,
    alt: '',
    loading: 'lazy',
    width: 28,
    height: 28,
    onerror: () => {
      areBlocked = true
      image.remove()
    },
  })
  icon.append(image)
  return icon
}
