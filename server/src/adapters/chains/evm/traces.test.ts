import { describe, expect, test } from 'vitest'
import { flatTraces, nestedTraces } from './traces.ts'

const block = `0x${'b0'.repeat(32)}`
const tx = `0x${'01'.repeat(32)}`
const router = `0x${'aa'.repeat(20)}`
const wallet = `0x${'bb'.repeat(20)}`
const ours = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

const flat = (traceAddress: number[], action: object, others: object = {}) => ({
  blockHash: block,
  transactionHash: tx,
  traceAddress,
  type: 'call',
  action: { callType: 'call', from: router, to: wallet, value: '0x0', ...action },
  ...others,
})
const nested = (parts: object) => ({ type: 'CALL', from: router, to: wallet, value: '0x0', ...parts })
const one = (result: object) => nestedTraces([tx])([{ txHash: tx, result }])

/** The same transaction in the formats of `trace_block` (OpenEthereum's successors) and geth's `callTracer`. */
describe('traces of one transaction', () => {
  test('give a transfer the same path, whether or not the tracer lists calls without transfers', () => {
    const sparse = flatTraces(block)([
      flat([], {}),
      flat([0], { value: '0x5' }, { error: 'Reverted' }),
      flat([1], {}),
      flat([1, 0], { from: wallet, to: ours, value: '0x7' }),
      flat([2], { to: ours, value: '0x9' }),
    ])
    const full = one(
      nested({
        calls: [
          nested({ type: 'STATICCALL', to: '0x0000000000000000000000000000000000000004' }),
          nested({
            calls: [nested({ type: 'DELEGATECALL', value: '0x9' }), nested({ from: wallet, to: ours, value: '0x7' })],
          }),
          nested({ to: ours, value: '0x9' }),
        ],
      }),
    )
    expect(full?.inner).toEqual(sparse.inner)
    expect(sparse.inner.map(({ path, to, units }) => [path, to, units])).toEqual([
      ['0.0', ours, 7n],
      ['1', ours, 9n],
    ])
  })

  test('contain no transfer below a failed frame, even if the subframe succeeded (D11)', () => {
    const reverted = [flat([], {}), flat([0], {}, { error: 'Reverted' }), flat([0, 0], { to: ours, value: '0x7' })]
    expect(flatTraces(block)(reverted).inner).toEqual([])
    const inner = nested({ error: 'execution reverted', calls: [nested({ to: ours, value: '0x7' })] })
    expect(one(nested({ calls: [inner] }))?.inner).toEqual([])
  })

  test('contain no transfer of a failed transaction', () => {
    const failed = flatTraces(block)([flat([], {}, { error: 'Reverted' }), flat([0], { to: ours, value: '0x7' })])
    expect([failed.inner, failed.outcomes.get(tx)]).toEqual([[], false])
  })

  test('contain no selfdestruct (D12), create, delegatecall, staticcall or callcode', () => {
    const kinds = flatTraces(block)([
      flat([], {}),
      { ...flat([0], {}), type: 'suicide', action: { address: router, refundAddress: ours, balance: '0x7' } },
      { ...flat([1], {}), type: 'create', action: { from: router, value: '0x7', init: '0x' } },
      ...['delegatecall', 'staticcall', 'callcode'].map((callType, n) =>
        flat([n + 2], { callType, to: ours, value: '0x7' }),
      ),
    ])
    expect(kinds.inner).toEqual([])
    const calls = ['SELFDESTRUCT', 'CREATE', 'CREATE2', 'DELEGATECALL', 'STATICCALL', 'CALLCODE'].map((type) =>
      nested({ type, to: ours, value: '0x7' }),
    )
    expect(one(nested({ calls }))?.inner).toEqual([])
  })

  test('of another block are refused', () => {
    expect(() => flatTraces(`0x${'c0'.repeat(32)}`)([flat([], {})])).toThrow()
  })

  test('without a parent are refused', () => {
    expect(() => flatTraces(block)([flat([0], {})])).toThrow()
    expect(() => flatTraces(block)([flat([], {}), flat([0, 0], {})])).toThrow()
  })

  test('that failed name the transaction, in the form of geth and of Erigon (issue 11923), and do not hide the others', () => {
    const other = `0x${'02'.repeat(32)}`
    const traced = { txHash: tx, result: nested({ calls: [nested({ to: ours, value: '0x7' })] }) }
    const nonce = { code: -32000, message: 'tracing failed: nonce too low: address 0xE817, tx: 907 state: 3855' }
    for (const failed of [
      { txHash: other, error: 'execution timeout' },
      { txHash: other, result: null, error: nonce },
    ]) {
      const { inner, outcomes, untraced } = nestedTraces([tx, other])([traced, failed])
      expect(inner.map(({ to, units }) => [to, units])).toEqual([[ours, 7n]])
      expect([[...outcomes], untraced]).toEqual([[[tx, true]], [other]])
    }
  })
})
