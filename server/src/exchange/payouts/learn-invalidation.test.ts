import { expect, test } from 'vitest'
import { createLog } from '../../lib/log.ts'
import type { Chain, Observation } from '../ports/chain.ts'
import { AlreadyReleasedError, type Signer } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import { learnInvalidation } from './learn-invalidation.ts'

/** A log that writes nothing. */
const log = createLog({ level: 'silent', pretty: false })

/** The database has a proof that a stranger's transaction used the nonce of `first` and `second`. */
function learn(
  error: AlreadyReleasedError,
  conflictingTxHash = 'stranger',
  {
    observation = { kind: 'invalidated', proof: {} },
    tagHeight = null,
  }: Readonly<{ observation?: Observation; tagHeight?: number | null }> = {},
) {
  const invalidated: string[] = []
  const attempts = ['first', 'second'].map((txHash) => ({ txHash, raw: '0x', intent: { family: 'evm' } }))
  const transaction = { id: 'invalidated', network: 'eth', conflictKey: 'hot:1', conflictingTxHash: null, attempts }
  const store = {
    transactions: { findInvalidated: async () => ({ transaction, proof: { conflictingTxHash }, conflictingTxHash }) },
  } as unknown as Store
  const chain = {
    network: { id: 'eth', finalityBlocks: 2, evm: { finalityTag: 'finalized' } },
    reader: { head: async () => ({ height: 10 }), agrees: async () => true, tagHeight: async () => tagHeight },
    sender: { observe: async () => observation },
  } as unknown as Chain
  const signer = {
    recordInvalidation: async (ids: readonly string[]) => void invalidated.push(...ids),
  } as unknown as Signer
  return learnInvalidation({ store, signer, log }, chain, error).then((isLearned) => ({ isLearned, invalidated }))
}

test('M14: a proof that covers every released attempt is learned', async () => {
  const error = new AlreadyReleasedError('payout', ['first', 'second'], true)
  expect(await learn(error)).toEqual({ isLearned: true, invalidated: ['payout'] })
})

test.each<[string, AlreadyReleasedError, string?]>([
  ['of another destination or amount', new AlreadyReleasedError('payout', ['first'], false)],
  ['with an attempt that the database lost', new AlreadyReleasedError('payout', ['first', 'lost'], true)],
  ['whose own attempt is the conflict', new AlreadyReleasedError('payout', ['first', 'second'], true), 'second'],
])('no proof is learned for a release %s', async (_name, error, conflictingTxHash) => {
  expect(await learn(error, conflictingTxHash)).toEqual({ isLearned: false, invalidated: [] })
})

test.each([
  [7, false],
  [null, false],
  [8, true],
])('a failure in block 8 is a proof when the finality tag has passed it (tag at %s)', async (tagHeight, isLearned) => {
  const observation = { kind: 'included', block: { height: 8, hash: 'a' }, ok: false, feeUnits: 1n } as const
  const error = new AlreadyReleasedError('payout', ['first'], true)
  expect(await learn(error, 'stranger', { observation, tagHeight })).toMatchObject({ isLearned })
})

// M8: its inputs are quarantined, and no transaction conflicts with it.
test.each<[string, boolean, Partial<Record<'reason' | 'observation' | 'attempts', unknown>>]>([
  ['every node of this worker reports it, and none has the transaction', true, {}],
  ['a node of this worker would accept the scripts', false, { reason: null }],
  ['a node has the transaction', false, { observation: 'pending' }],
  ['an earlier attempt may be at a node', false, { attempts: ['first', 'second'] }],
])('M14: a failure of scripts is a proof if %s: %s', async (_name, isLearned, change) => {
  const { reason = 'the signature is invalid', observation = 'unseen', attempts = ['first'] } = change
  const recorded: unknown[] = []
  const proof = { scriptFailed: 'the signature is invalid', txHash: 'first' }
  const transaction = {
    ...{ id: 'quarantined', network: 'btc', conflictKey: 'a:0', conflictingTxHash: null },
    attempts: (attempts as string[]).map((txHash) => ({
      ...{ txHash, raw: `bytes of ${txHash}`, intent: { family: 'bitcoin', inputs: [{ outpoint: 'a:0' }] } },
    })),
  }
  const store = {
    transactions: { findInvalidated: async () => ({ transaction, proof, conflictingTxHash: null }) },
    recovery: { findAncestorSpends: async () => [] },
  } as unknown as Store
  const chain = {
    network: { id: 'btc', finalityBlocks: 2 },
    reader: { head: async () => ({ height: 10 }) },
    sender: {
      observe: async () => ({ kind: observation }),
      findScriptFailure: async (raw: string) => (raw === 'bytes of first' ? reason : null),
    },
  } as unknown as Chain
  const signer = {
    recordInvalidation: async (...one: unknown[]) => void recorded.push(one),
  } as unknown as Signer
  const error = new AlreadyReleasedError('payout', ['first'], true)
  expect(await learnInvalidation({ store, signer, log }, chain, error)).toBe(isLearned)
  expect(recorded).toEqual(isLearned ? [[['payout'], proof]] : [])
})
