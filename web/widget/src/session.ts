import type { CreateExchangeBody } from '@swapyard/sdk'

/** A create whose answer was not seen yet. `sentAt`: by the clock of this device. */
export type Attempt = Readonly<{ body: CreateExchangeBody; idempotencyKey: string; sentAt: number }>
/** `startedAt`: the time of the create by the clock of this device. */
export type Started = Readonly<{ token: string; startedAt: number }>
type Stored = Readonly<{ attempt?: Attempt; started?: Started }>

/** What a reload of the page must not lose, for this tab alone. */
export type Session = Readonly<{ read(): Stored; write(stored: Stored): void }>

/** What the order of the page is made of. */
const ORDER_NAMES = ['from', 'to', 'amount', 'flow', 'address'] as const

/**
 * Each order of a page has a session of its own, so that the exchange of one is never shown for another. The external id names the
 * order; without it, the order is what the form begins with.
 */
export function sessionNameOf(key: string, element: Element): string {
  const read = (name: string) => element.getAttribute(name)?.trim() ?? ''
  const order = read('external-id') || ORDER_NAMES.map(read)
  return `swapyard:${JSON.stringify([key, element.id, order])}`
}

/** Without access to the storage, which a frame or a setting can deny, a reload begins again. */
export function openSession(name: string): Session {
  return {
    read() {
      try {
        return toStored(JSON.parse(sessionStorage.getItem(name) ?? '{}'))
      } catch {
        return {}
      }
    },
    write(stored) {
      try {
        if (Object.keys(stored).length === 0) sessionStorage.removeItem(name)
        else sessionStorage.setItem(name, JSON.stringify(stored))
      } catch {}
    },
  }
}

/** Other scripts of the page can write to the storage. */
function toStored(value: unknown): Stored {
  const { attempt, started } = Object(value) as Stored
  if (typeof started?.token === 'string' && typeof started.startedAt === 'number') return { started }
  return typeof attempt?.idempotencyKey === 'string' && typeof attempt.sentAt === 'number' ? { attempt } : {}
}
