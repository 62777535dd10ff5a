import { checkpoint } from '../core/services/checkpoint.ts'
import { createBatcher } from '../lib/batch.ts'
import { startLoop, type WakeableLoop } from '../lib/loop.ts'
import { nextAttemptMs } from './domain/retry-delays.ts'
import type { ClaimedDelivery } from './domain/webhook.ts'
import type { PartnerHttp, PostResult, WebhookSecrets } from './ports/partner-http.ts'
import type { AttemptResult, DeliveryStore, DisabledMail, FailurePolicy } from './ports/store.ts'
import { signDelivery } from './sign-delivery.ts'

export type DeliverWebhooksDeps = Readonly<{
  deliveries: DeliveryStore
  http: Pick<PartnerHttp, 'post'>
  secrets: Pick<WebhookSecrets, 'open'>
  /** Null: no mail server is configured. */
  mail: DisabledMail | null
  random(): number
  now(): number
  onAttempt(outcome: 'delivered' | 'failed'): void
  onError(error: unknown): void
}>

/** Deliveries that one worker sends at a time. */
const RUNNING_MAX = 256
/** The same of one webhook, and of one whose last attempt failed or was slow: it must not take the place of others. */
const RUNNING_EACH = 16
const RUNNING_SLOW = 2
const SLOW_MS = 2_000
/** Longer than an attempt may take. After a crash, the delivery is sent again when it ends. */
const LEASE_MS = 60_000
const POLL_MS = 1_000

type Receivers = Map<string, { running: number; isSlow: boolean }>

/** Sends due deliveries. `wake`: some may have become due. Stopping waits for the attempts in progress. */
export function startDeliverWebhooks(deps: DeliverWebhooksDeps): WakeableLoop {
  const receivers: Receivers = new Map()
  const sending = new Set<Promise<void>>()
  const policy: FailurePolicy = {
    nextAttemptMs: (failingMs) => nextAttemptMs(failingMs, deps.random()),
    mail: deps.mail,
  }
  const finish = createBatcher(
    async (results: readonly AttemptResult[]) => {
      await deps.deliveries.finish(results, policy)
      return results.map(() => null)
    },
    { most: 200, running: 1 },
  )

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const receiver = receivers.get(delivery.webhookId) ?? { running: 0, isSlow: false }
    receivers.set(delivery.webhookId, receiver)
    receiver.running++
    try {
      const startedAt = performance.now()
      const result = await attempt(deps, delivery)
      receiver.isSlow = result.error !== null || performance.now() - startedAt > SLOW_MS
      deps.onAttempt(result.error === null ? 'delivered' : 'failed')
      checkpoint('delivery.answered')
      await finish(result)
      checkpoint('delivery.finished')
    } finally {
      receiver.running--
      if (receiver.running === 0 && !receiver.isSlow) receivers.delete(delivery.webhookId)
    }
  }

  const loop = startLoop({
    paceMs: POLL_MS,
    backoffMs: 10_000,
    onError: deps.onError,
    turn: async () => {
      const free = RUNNING_MAX - sending.size
      if (free === 0) return undefined
      const claimed = await deps.deliveries.claim(free, capacityOf(receivers), LEASE_MS)
      if (claimed.length > 0) checkpoint('delivery.claimed')
      for (const delivery of claimed) {
        const work = deliver(delivery)
          .catch(deps.onError)
          .finally(() => {
            sending.delete(work)
            loop.wake()
          })
        sending.add(work)
      }
      return undefined
    },
  })
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop()
      await Promise.all(sending)
    },
  }
}

function capacityOf(receivers: Receivers): Parameters<DeliveryStore['claim']>[1] {
  const others = [...receivers].map(
    ([id, { running, isSlow }]) => [id, Math.max(0, (isSlow ? RUNNING_SLOW : RUNNING_EACH) - running)] as const,
  )
  return { each: RUNNING_EACH, others: new Map(others) }
}

/** One attempt. */
async function attempt({ http, secrets, now }: DeliverWebhooksDeps, delivery: ClaimedDelivery): Promise<AttemptResult> {
  const { id, attempts, body, webhookId } = delivery
  const answer = await post()
  return { id, webhookId, attempts, status: answer.status, error: reasonOf(answer) }

  async function post(): Promise<PostResult> {
    let signature: string
    try {
      signature = signDelivery(body, openSecrets(secrets, delivery), now())
    } catch {
      return { status: null, error: 'its secret cannot be decrypted: rotate the secret' }
    }
    return http.post(delivery.url, { 'content-type': 'application/json', 'x-swapyard-signature': signature }, body)
  }
}

/**
 * Throws if the newest one cannot be decrypted. The one before it is left out then, so that a rotation helps at once after a
 * change of the pepper.
 */
function openSecrets(box: Pick<WebhookSecrets, 'open'>, { webhookId, secrets }: ClaimedDelivery): readonly string[] {
  return secrets.flatMap((secret, at) => {
    try {
      return [box.open(webhookId, secret)]
    } catch (error) {
      if (at === 0) throw error
      return []
    }
  })
}

/** Null for a status of success, the only one that ends a delivery. */
function reasonOf({ status, error }: PostResult): string | null {
  if (status === null) return error ?? 'no answer'
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? `status ${status}: redirects are not followed` : `status ${status}`
}
