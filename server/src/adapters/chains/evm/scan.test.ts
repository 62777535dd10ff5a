import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { present } from '../../../lib/assert.ts'
import type { LogReply } from './replies.ts'
import { identifyTransferLogs, limitUnlisted } from './scan.ts'
import { TRANSFER_TOPIC } from './token.ts'

const APPROVAL: Hex = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

/** The logs of two transactions in a block that includes `first` before `second`. */
function block(first: string, second: string) {
  const entry = (txHash: string, topic: Hex, index: number): LogReply => ({
    address: '0xt',
    topics: [topic],
    data: '0x',
    blockHash: '0xb',
    txHash,
    index,
    removed: false,
  })
  return [
    entry(first, APPROVAL, 0),
    entry(first, TRANSFER_TOPIC, 1),
    entry(first, TRANSFER_TOPIC, 2),
    entry(second, APPROVAL, 3),
    entry(second, TRANSFER_TOPIC, 4),
    entry(second, TRANSFER_TOPIC, 5),
  ]
}

test('a token deposit keeps its identity if a reorganisation includes it at another position of the block', () => {
  const identities = (logs: ReturnType<typeof block>) =>
    identifyTransferLogs(logs)
      .map(([identity]) => identity)
      .sort()
  expect(identities(block('0xa1', '0xa2'))).toEqual(['0xa1:0xt:0', '0xa1:0xt:1', '0xa2:0xt:0', '0xa2:0xt:1'])
  expect(identities(block('0xa2', '0xa1'))).toEqual(identities(block('0xa1', '0xa2')))
})

test('M5: a token deposit has the same identity whether the logs of other contracts were read or not', () => {
  const own = block('0xa1', '0xa2')
  const other = own.map((log) => ({ ...log, address: '0xspam', index: log.index * 2 }))
  const merged = [...other, ...own.map((log) => ({ ...log, index: log.index * 2 + 1 }))]
  const identities = identifyTransferLogs(merged).filter(([, { address }]) => address === '0xt')
  expect(identities.map(([identity]) => identity)).toEqual(identifyTransferLogs(own).map(([identity]) => identity))
})

test('M5: of a block full of transfers of unlisted tokens 10 000 are read, and every one of a listed token', () => {
  const [log] = block('0xa1', '0xa2')
  const spam = Array.from({ length: 12_000 }, () => ({ ...present(log, 'a log'), address: '0xspam' }))
  const listed = spam.slice(0, 3).map((one) => ({ ...one, address: '0xlisted' }))
  const read = limitUnlisted([...listed.slice(0, 1), ...spam, ...listed.slice(1)], ['0xlisted'])
  expect(read.filter(({ address }) => address === '0xlisted')).toHaveLength(3)
  expect(read).toHaveLength(10_003)
})

test('identities do not depend on the order in which a node returns the logs', () => {
  const logs = block('0xa1', '0xa2')
  expect(identifyTransferLogs(logs.toReversed())).toEqual(identifyTransferLogs(logs))
})
