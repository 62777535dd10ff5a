import type { FastifyReply } from 'fastify'
import type { TSchema } from 'typebox'

/** Writes JSON with the compiled schema of the route's 200 response. */
export function serializeAnswer(reply: FastifyReply, answer: object): string {
  return String(reply.serializeInput(answer as Record<string, unknown>, '200'))
}

/** Compiled once per route and schema. */
export function serializerOf(reply: FastifyReply, schema: TSchema): (value: object) => string {
  const serialize = reply.compileSerializationSchema(schema as unknown as Record<string, unknown>)
  return (value) => serialize(value as Record<string, unknown>)
}
