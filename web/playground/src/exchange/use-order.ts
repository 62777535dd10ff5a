import type { ExchangeRecord } from '@swapyard/sdk'
import { useEffect, useRef, useState } from 'react'
import { explain, sleep } from '../client.ts'
import { createOrder, followOrder, type Order, readPaidBalance, type Terms } from './order.ts'
import type { Scenario } from './scenarios.ts'

export type OrderState = Readonly<{
  order: Order | null
  /** What happened, in sentences. */
  notes: readonly string[]
  problem: string | null
  isBusy: boolean
  create(terms: Terms, recipient: string): void
  run(scenario: Scenario): void
}>

/** Creates an exchange, follows it, and pays it in one of several forms. */
export function useOrder(): OrderState {
  const [order, setOrder] = useState<Order | null>(null)
  const [notes, setNotes] = useState<readonly string[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const latest = useRef<ExchangeRecord | null>(null)
  const following = useRef(new AbortController())
  useEffect(() => () => following.current.abort(), [])

  const whileBusy = (act: () => Promise<void>) => {
    setBusy(true)
    setProblem(null)
    act()
      .catch((error) => following.current.signal.aborted || setProblem(explain(error)))
      .finally(() => setBusy(false))
  }

  const follow = async (created: Order, signal: AbortSignal) => {
    const onRecord = (record: ExchangeRecord) => {
      latest.current = record
      setProblem(null)
      setOrder((current) => current && { ...current, record })
    }
    const final = await followOrder(created.created.id, signal, onRecord, (error) => setProblem(explain(error)))
    const balance = await readPaidBalance(created, final)
    if (!signal.aborted) setOrder((current) => current && { ...current, balance })
  }

  const create = (terms: Terms, recipient: string) => {
    following.current.abort()
    following.current = new AbortController()
    const { signal } = following.current
    latest.current = null
    setNotes([])
    setOrder(null)
    whileBusy(async () => {
      const created = await createOrder(terms, recipient)
      if (signal.aborted) return
      setOrder(created)
      follow(created, signal).catch((error) => signal.aborted || setProblem(explain(error)))
    })
  }

  const run = (scenario: Scenario) => {
    if (order === null) return
    const { signal } = following.current
    const note = (sentence: string) => setNotes((current) => [...current, sentence])
    const waitFor = async (holds: (record: ExchangeRecord) => boolean) => {
      for (;;) {
        if (latest.current !== null && holds(latest.current)) return latest.current
        await sleep(200, signal)
      }
    }
    whileBusy(() => scenario.run({ order, signal, note, waitFor }))
  }

  return { order, notes, problem, isBusy, create, run }
}
