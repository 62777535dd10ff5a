import { expect, test } from 'vitest'
import { createLog } from '../../lib/log.ts'
import type { Chain, Observation } from '../ports/chain.ts'
import { AlreadyReleasedError, type Signer } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import { learnInvalidation } from './learn-invalidation.ts'

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
  const log = createLog({ level: 'silent', pretty: false })
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
