import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createJsonRpc } from '@swapyard/lib/json-rpc.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quantity } from '../adapters/chains/evm/replies.ts'
import { createRpc, rpcDefaults } from '../adapters/chains/evm/rpc.ts'
import { createSolanaNodes } from '../adapters/solana/nodes.ts'
import { createSuiNode } from '../adapters/sui/node.ts'
import type { NodeEndpoint } from '../lib/node-endpoint.ts'
import { findWrongHeaders, toEndpoints } from './node-headers.ts'

test('each node gets the headers of its host and port, and no other', () => {
  const rpcUrls = ['https://a.example/1', 'https://a.example:8443/2', 'https://user:word@b.example/3']
  const headers = { 'a.example': { 'api-key': 'of a' }, 'b.example': { authorization: 'Bearer b' } }
  expect(toEndpoints({ rpcUrls, headers })).toEqual([
    { url: rpcUrls[0], headers: { 'api-key': 'of a' } },
    rpcUrls[1],
    { url: rpcUrls[2], headers: { authorization: 'Bearer b' } },
  ])
})

test('headers that would be sent nowhere, or that cannot be set, are refused', () => {
  const rpcUrls = ['https://a.example/key']
  const problems = findWrongHeaders('SWAPYARD_CONFIG', {
    btc: { rpcUrls },
    eth: { rpcUrls, headers: { 'a.example': { 'X-Api-Key': 'secret' } } },
    ltc: { rpcUrls, headers: { 'b.example': { 'api-key': 'secret' } } },
    base: { rpcUrls, headers: { 'a.example': { Host: 'secret', 'api key': 'secret' } } },
    xmr: { rpcUrls, headers: { 'a.example': { 'api-key': 'secret' } } },
  })
  expect(problems).toEqual([
    'SWAPYARD_CONFIG: networks.ltc.headers.b.example is the host of none of its rpcUrls',
    'SWAPYARD_CONFIG: networks.base.headers.a.example.Host is not a name of a header that can be set',
    'SWAPYARD_CONFIG: networks.base.headers.a.example.api key is not a name of a header that can be set',
    'SWAPYARD_CONFIG: networks.xmr.headers: the wallet program of Monero sends no headers; use a node without them',
  ])
  expect(problems.join()).not.toContain('secret')
})

describe('a node with a password and a header is asked with both', () => {
  let seen: IncomingHttpHeaders[]
  const server = createServer(({ headers }, response) => {
    seen.push(headers)
    response.writeHead(403).end()
  })
  let endpoint: NodeEndpoint
  beforeEach(async () => {
    seen = []
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    endpoint = { url: `http://user:word@127.0.0.1:${port}/`, headers: { 'api-key': 'a key' } }
  })
  afterEach(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })

  test.each([
    ['the bitcoin family', () => createJsonRpc({ url: endpoint }).call('getblockcount', [])],
    ['EVM', () => createRpc('eth node 1', endpoint, 1, rpcDefaults).ask('eth_blockNumber', [], quantity)],
    ['Solana', () => createSolanaNodes('sol', [endpoint]).ask('getSlot', [])],
    ['Sui', () => createSuiNode('sui node 1', endpoint, 'a genesis').isOnNetwork()],
  ])('on %s', async (_family, ask) => {
    await ask().catch(() => undefined)
    // printf 'user:word' | base64
    expect(seen[0]).toMatchObject({ 'api-key': 'a key', authorization: 'Basic dXNlcjp3b3Jk' })
  })
})
