import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { describe, expect, test } from 'vitest'
import { startSolanaNode } from '../../../sandbox/src/solana/solana-node.ts'
import { startTestNode } from '../../../sandbox/src/sui/sui-node.fixture.ts'
import { sol } from '../../networks/sol.ts'
import { sui } from '../../networks/sui.ts'
import { createSolanaSwapChain } from '../adapters/solana/chain.ts'
import { createSuiSwapChain } from '../adapters/sui/chain.ts'
import type { ConfigError } from '../config/load.ts'
import { type Network, resolveNetwork } from '../core/domain/network.ts'
import { createLog } from '../lib/log.ts'
import type { SwapNetwork } from '../swap/networks.ts'
import { reportChecksums, reportCoreDumps, requireOwnNetworks } from './check-production.ts'

const silent = createLog({ level: 'silent', pretty: false })

/** What a start reports about a cluster whose `data_checksums` has the value. */
async function report(checksums: string) {
  const reported: string[] = []
  const sql = { query: async () => [{ checksums }] as never[] }
  const alarms = {
    raise: async (subject: string) => void reported.push(`raise ${subject}`),
    clear: async (subject = '') => void reported.push(`clear ${subject}`),
  }
  await reportChecksums(sql, alarms, { ...silent, warn: (_, message) => void reported.push(`warn: ${message}`) })
  return reported
}

test('warns of a cluster without data checksums, and clears the alarm of one with them', async () => {
  expect(await report('off')).toEqual([
    'warn: the database has no data checksums: a corrupted page of the disk is read as if it were correct',
    'raise checksums:database',
  ])
  expect(await report('on')).toEqual(['clear checksums:database'])
})

// M27.9: the guide advised to forbid core dumps, and nothing said that they were not forbidden.
test('M27.9: warns of a worker whose core dumps are not forbidden', () => {
  const report = (limits: string) => {
    const warned: unknown[] = []
    reportCoreDumps({ ...silent, warn: (fields) => void warned.push(fields) }, limits)
    return warned
  }
  const limitsWith = (soft: string) =>
    [
      'Limit                     Soft Limit           Hard Limit           Units     ',
      'Max stack size            8388608              unlimited            bytes     ',
      `Max core file size        ${soft.padEnd(20)} unlimited            bytes     `,
    ].join('\n')
  expect(report(limitsWith('unlimited'))).toEqual([{ maxSize: 'unlimited' }])
  expect(report(limitsWith('4096'))).toEqual([{ maxSize: '4096' }])
  expect(report(limitsWith('0'))).toEqual([])
  // Where the system states no limits.
  expect(report('')).toEqual([])
})

describe('the nodes of a network whose transactions do not name it', () => {
  const check = async (areNodesOnNetwork: () => Promise<boolean>) => {
    const warnings: string[] = []
    const networks = new Map([['sol', { chain: { areNodesOnNetwork } } as unknown as SwapNetwork]])
    const log = { ...silent, warn: (_: object, message: string) => void warnings.push(message) }
    return requireOwnNetworks(networks, log).then(
      () => warnings,
      (error: ConfigError) => error.problems,
    )
  }

  test('must be of that network', async () => {
    expect(await check(async () => true)).toEqual([])
    expect(await check(async () => false)).toEqual(['SWAPYARD_CONFIG: networks.sol: a node belongs to another network'])
    expect(await check(() => Promise.reject(new Error('no answer')))).toEqual([
      'the nodes did not say to which network they belong',
    ])
  })

  test('of Solana are not asked before they have stated its genesis', async () => {
    const node = await startSolanaNode({ port: 0, log: () => undefined })
    try {
      const production = resolveNetwork(sol, 'production')
      const chainOf = (network: Network) => createSolanaSwapChain({ network, rpcUrls: [node.rpcUrl] })
      const foreign = chainOf(production)
      expect(await foreign.areNodesOnNetwork?.()).toBe(false)
      await expect(foreign.readBalance(sol.id, foreign.native)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
      const genesis = (await callOnce(node.rpcUrl, 'getGenesisHash')) as string
      expect(await chainOf({ ...production, genesis }).areNodesOnNetwork?.()).toBe(true)
    } finally {
      await node.stop()
    }
  })

  test('of Sui are not asked before they have stated its genesis', async () => {
    const { node } = await startTestNode()
    const production = resolveNetwork(sui, 'production')
    const chainOf = (network: Network) => createSuiSwapChain({ network, rpcUrls: [node.url] })
    expect(await chainOf(production).areNodesOnNetwork?.()).toBe(false)
    await expect(chainOf(production).readFinalHeight()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    const own = chainOf({ ...production, genesis: node.chainId })
    expect(await own.areNodesOnNetwork?.()).toBe(true)
    expect(await own.readFinalHeight()).toBe(0)
  })
})
