import type { Currency } from '@swapyard/sdk'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { CallsPanel } from './calls-panel.tsx'
import { explain, sleep, swapyard } from './client.ts'
import { ExchangeMode } from './exchange/exchange-mode.tsx'
import { FirstCall } from './first-call.tsx'
import { SwapMode } from './swap/swap-mode.tsx'

const modes = [
  {
    id: 'exchange',
    label: 'Exchange',
    summary: 'Send a coin on one network, receive another coin on another network.',
  },
  {
    id: 'private',
    label: 'Private exchange',
    summary:
      'The same in two legs, so that no transaction links payer and recipient. See what an observer of each chain sees.',
  },
  { id: 'swap', label: 'Swap', summary: 'Exchange tokens on one network, in a transaction that your own key signs.' },
] as const

const subscribe = (listener: () => void) => {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
const readMode = () => modes.find(({ id }) => location.hash === `#${id}`) ?? modes[0]

export function Playground() {
  const mode = useSyncExternalStore(subscribe, readMode)
  const { currencies, problem } = useCurrencies()
  return (
    <>
      <FirstCall />
      <nav className="modes" aria-label="What to try">
        {modes.map(({ id, label }) => (
          <a key={id} href={`#${id}`} aria-current={id === mode.id ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <p className="mode-summary">{mode.summary}</p>
      <div className="columns">
        {currencies === null ? (
          <p className="waiting" role="status">
            {problem ?? 'The server is starting…'}
          </p>
        ) : mode.id === 'swap' ? (
          <SwapMode currencies={currencies} />
        ) : (
          <ExchangeMode key={mode.id} currencies={currencies} isPrivate={mode.id === 'private'} />
        )}
        <CallsPanel />
      </div>
    </>
  )
}

/** The list of currencies. A sandbox that has just started answers after some seconds. */
function useCurrencies(): { currencies: readonly Currency[] | null; problem: string | null } {
  const [currencies, setCurrencies] = useState<readonly Currency[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const load = async () => {
      for (;;) {
        try {
          setCurrencies((await swapyard.listCurrencies({ signal })).filter(({ enabled }) => enabled))
          return
        } catch (error) {
          if (signal.aborted) return
          setProblem(explain(error))
        }
        await sleep(2_000, signal)
      }
    }
    load().catch(() => undefined)
    return () => controller.abort()
  }, [])
  return { currencies, problem }
}
