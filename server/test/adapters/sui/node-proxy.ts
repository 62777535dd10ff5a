import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GrpcTypes } from '@mysten/sui/grpc'

function frame(kind: number, payload: Uint8Array): string {
  const header = Buffer.alloc(5)
  header.writeUInt8(kind, 0)
  header.writeUInt32BE(payload.length, 1)
  return Buffer.concat([header, payload]).toString('base64')
}

const trailer = (status: number) => frame(0x80, Buffer.from(`grpc-status:${status}\r\ngrpc-message:test\r\n`))
/** A page without fields, after which the list goes on. */
const endlessPage = GrpcTypes.ListDynamicFieldsResponse.toBinary({
  ...{ dynamicFields: [], nextPageToken: Uint8Array.of(1) },
})
const INTERNAL = 13
const UNAVAILABLE = 14

/** Forwards requests to a node, after `before` has ended. */
export async function startNodeProxy(url: string) {
  const hooks = {
    before: async (_method: string): Promise<void> => undefined,
    /** Objects whose fields cannot be listed, and those whose list does not end. */
    unlisted: new Set<string>(),
    endless: new Set<string>(),
    /** Every connection is closed without an answer. */
    isDown: false,
    /** What the service that verifies signatures answers; null where the node does. */
    signatures: null as 'valid' | 'invalid' | 'unavailable' | null,
    /** Requests to that service. */
    verified: [] as GrpcTypes.VerifySignatureRequest[],
  }
  function verifySignature(body: string): string {
    // The message follows the kind and the length of its frame.
    hooks.verified.push(
      GrpcTypes.VerifySignatureRequest.fromBinary(Uint8Array.from(Buffer.from(body, 'base64')).slice(5)),
    )
    if (hooks.signatures === 'unavailable') return trailer(UNAVAILABLE)
    const reply = hooks.signatures === 'valid' ? { isValid: true } : { isValid: false, reason: 'test' }
    return frame(0, GrpcTypes.VerifySignatureResponse.toBinary(reply)) + trailer(0)
  }
  async function answer(path: string, body: string, contentType: string): Promise<string> {
    await hooks.before(path.split('/').at(-1) ?? '')
    if (hooks.signatures !== null && path.endsWith('SignatureVerificationService/VerifySignature'))
      return verifySignature(body)
    const request = Buffer.from(body, 'base64').toString('latin1')
    const names = (ids: ReadonlySet<string>) =>
      path.endsWith('/ListDynamicFields') && [...ids].some((id) => request.includes(id))
    if (names(hooks.unlisted)) return trailer(INTERNAL)
    if (names(hooks.endless)) return frame(0, endlessPage) + trailer(0)
    const reply = await fetch(new URL(path, url), { method: 'POST', body, headers: { 'content-type': contentType } })
    return reply.text()
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (hooks.isDown) return void response.destroy()
    const contentType = request.headers['content-type'] ?? ''
    const text = await answer(request.url ?? '', Buffer.concat(chunks).toString('latin1'), contentType)
    response.writeHead(200, { 'content-type': 'application/grpc-web-text+proto' }).end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    ...{ hooks, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
