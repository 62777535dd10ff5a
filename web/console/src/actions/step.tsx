import { Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from './actions.module.css'

/** A step of a dialog. The focus moves to its title, because the button of the step before is gone. */
export function Step({ title, children }: Readonly<{ title: string; children: ReactNode }>) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <Stack>
      <Title order={3} size="h5" ref={heading} tabIndex={-1} className={classes['heading']}>
        {title}
      </Title>
      {children}
    </Stack>
  )
}
