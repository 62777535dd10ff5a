import type { Currency, DefiCurrency } from '@swapyard/sdk'
import { useEffect, useRef, useState } from 'react'
import { explain, swapyard } from '../client.ts'
import { type Step, StepList } from '../step-list.tsx'
import { runSwap, type SwapTerms, stepTitles } from './run-swap.ts'
import { SwapForm, SwapTermsFields } from './swap-form.tsx'
import { faucetTicker, isNative } from './tokens.ts'
import { useSwapQuote } from './use-swap-quote.ts'

const SLIPPAGE = '1'
/** Swaps here are signed with viem. */
const isEvm = ({ enabled, chainId }: { enabled: boolean; chainId: number | null }) => enabled && chainId !== null

/** A swap with a throw-away wallet: the form, and the steps. */
export function SwapMode({ currencies }: { currencies: readonly Currency[] }) {
  const [networks, setNetworks] = useState<readonly string[]>([])
  const [network, setNetwork] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    swapyard
      .listDefiNetworks()
      .then((list) => {
        const served = list.filter(isEvm).map((one) => one.network)
        setNetworks(served)
        setNetwork(served.find((one) => one === 'base') ?? served[0] ?? null)
        if (served.length === 0)
          setProblem('This sandbox runs no EVM network. Start it with SWAPYARD_SANDBOX_NETWORKS=all.')
      })
      .catch((error) => setProblem(explain(error)))
  }, [])
  const market = useMarket(network, setProblem)
  if (network === null || market === null)
    return (
      <p className="waiting" role="status">
        {problem ?? 'Reading the tokens…'}
      </p>
    )
  const choose = (next: string) => {
    setProblem(null)
    setNetwork(next)
  }
  return <Swap {...{ network, networks, market, problem, currencies }} onNetwork={choose} />
}

type Market = Readonly<{ network: string; tokens: readonly DefiCurrency[] }>

/** The tokens of the network; those of the one before it until they are read. */
function useMarket(network: string | null, onProblem: (problem: string) => void): Market | null {
  const [market, setMarket] = useState<Market | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a setter of React stays the same
  useEffect(() => {
    if (network === null) return
    const controller = new AbortController()
    swapyard
      .listTokens({ network, limit: 500 }, { signal: controller.signal })
      .then((list) => setMarket({ network, tokens: list.filter(({ enabled }) => enabled) }))
      .catch((error) => controller.signal.aborted || onProblem(explain(error)))
    return () => controller.abort()
  }, [network])
  return market
}

type SwapProps = Readonly<{
  /** The chosen one; the market follows it. */
  network: string
  networks: readonly string[]
  market: Market
  /** Of the market. */
  problem: string | null
  currencies: readonly Currency[]
  onNetwork(network: string): void
}>

function Swap({ network, networks, market, currencies, onNetwork, ...props }: SwapProps) {
  const { tokens } = market
  const sources = tokens.filter((token) => faucetTicker(token, currencies) !== null)
  const [edited, setEdited] = useState<Readonly<{ market: Market; terms: SwapTerms }> | null>(null)
  const terms = edited?.market === market ? edited.terms : firstTerms(market, sources)
  const feed = useSwapQuote(terms)
  const { steps, isBusy, start, reset, ...run } = useSteps(currencies)
  const problem = props.problem ?? run.problem
  const choose = (next: string) => {
    reset()
    onNetwork(next)
  }
  return (
    <>
      <SwapForm {...{ network, networks, terms }} onNetwork={choose} onSwap={() => terms !== null && start(terms)}>
        {terms === null ? null : (
          <SwapTermsFields
            {...{ sources, tokens, terms, feed }}
            isBusy={isBusy || market.network !== network}
            onTerms={(next) => setEdited({ market, terms: next })}
          />
        )}
      </SwapForm>
      <section className="panel" aria-labelledby="progress">
        <h2 id="progress" tabIndex={-1}>
          {steps.length === 0 ? 'What happens' : 'The swap'}
        </h2>
        {problem === null ? null : (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {steps.length === 0 ? (
          <ol className="forecast">
            <li>The page makes a key, and the faucet funds its wallet.</li>
            <li>The server returns unsigned transactions: an approval if one is needed, and the swap.</li>
            <li>The page signs them with viem, and the server broadcasts them.</li>
            <li>The server tracks the swap until its block is final.</li>
          </ol>
        ) : (
          <StepList steps={steps} />
        )}
      </section>
    </>
  )
}

/** From a token, because that needs an approval. */
function firstTerms({ network, tokens }: Market, sources: readonly DefiCurrency[]): SwapTerms | null {
  const from = sources.find(({ symbol }) => symbol === 'USDC') ?? sources[0]
  const to = tokens.find((token) => isNative(token) && token !== from) ?? tokens.find((token) => token !== from)
  return from === undefined || to === undefined ? null : { network, from, to, amount: '100', slippage: SLIPPAGE }
}

function useSteps(currencies: readonly Currency[]) {
  const [steps, setSteps] = useState<readonly Step[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const running = useRef(new AbortController())
  useEffect(() => () => running.current.abort(), [])
  const reset = () => {
    running.current.abort()
    setSteps([])
    setProblem(null)
    setBusy(false)
  }
  const start = (terms: SwapTerms) => {
    reset()
    running.current = new AbortController()
    const { signal } = running.current
    setSteps(stepTitles.map((title) => ({ title, state: 'todo' })))
    setBusy(true)
    runSwap({
      terms,
      currencies,
      signal,
      report: (title, step) =>
        signal.aborted || setSteps((current) => current.map((one) => (one.title === title ? { ...step, title } : one))),
    })
      .catch((error) => signal.aborted || setProblem(explain(error)))
      .finally(() => signal.aborted || setBusy(false))
  }
  return { steps, problem, isBusy, start, reset }
}
