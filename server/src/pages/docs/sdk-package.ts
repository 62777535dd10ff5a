import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../core/domain/errors.ts'
import { createArchiveBody, type StaticBody, sendStaticBody } from '../../core/http/static-files.ts'
import { SDK_PATH } from './page-list.ts'

/** What sdk/build.ts wrote. */
const file = new URL('../../../../sdk/dist/swapyard-sdk.tgz', import.meta.url)

async function readPackage(): Promise<StaticBody> {
  const archive = await readFile(file).catch(() => {
    throw new AppError(
      'ROUTE_NOT_FOUND',
      'The client library is not packed. Run "node sdk/build.ts" in the installation and restart.',
    )
  })
  return createArchiveBody(archive, 'application/gzip')
}

/** Serves the client library as an archive that npm installs from this address. It is read at the first request. */
export function mountSdkPackage(app: FastifyInstance): void {
  let reading: Promise<StaticBody> | null = null
  app.get(SDK_PATH, async (request, reply) => {
    request.operation = SDK_PATH
    reading ??= readPackage().catch((error) => {
      reading = null
      throw error
    })
    return sendStaticBody(await reading, request, reply, 'no-cache')
  })
}
