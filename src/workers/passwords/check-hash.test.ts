import { expect, test } from 'vitest'
import { faultOfHash } from '#policies/shared/authentication/password-hash.ts'
import { checkHash } from './check-hash.ts'

const LONG = 'a very much longer text to encrypt.  This one even stretches over morethan one line.'

const BYTES_64 = '0123456789abcdef'.repeat(4)

/** Published hashes, and hashes that libxcrypt and OpenSSL computed. */
const hashes: readonly (readonly [password: string, hash: string])[] = [
  // Apache HTTP Server, "Password Formats"
  ['myPassword', '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/'],
  ['myPassword', '$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'],
  ['myPassword', '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE='],
  ['myPassword', 'rqXexS6ZhobKA'],
  // crypt_blowfish
  ['U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['U*U', '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  // Drepper, "Unix crypt using SHA-256 and SHA-512"
  ['Hello world!', '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5'],
  ['Hello world!', '$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA'],
  [
    'Hello world!',
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
  ],
  [
    LONG,
    '$6$rounds=1400$anotherlongsalts$POfYwTEok97VWcjxIiSOjiykti.o/pQs.wPvMxQ6Fm7I6IoYN3CmLs66x9t0oSwbtEW7o7UmJEiDwGqd8p4ur1',
  ],
  // libxcrypt 4.4. The passwords and salts differ in every bit that DES uses, and have the lengths of whole and partial blocks.
  ['K9~z!mQ_', 'zzc.tj6PkQ4fY'],
  ['U*U*U*U*', '..uHrDQ9FAjfI'],
  ['xY3#vB8%', 'kPHOIanEH0euM'],
  ['dolphins', '9aKbQW5uaZ.YU'],
  ['A', 'S/OoMV7WjUQo2'],
  ['7z^L(p0{', 'aZ/sRaUUJ40SI'],
  ['0123456789abcdef', '$1$Zz$JcAvRaH/sxevxCHQdEXjf1'],
  ['0123456789abcdefg', '$1$12345678$QHk3EEhG67cR4Spqkfs1o/'],
  ['x'.repeat(32), '$5$rounds=1000$s$6FXzQleDqhdTAWBtlwbZCjJPlh276m2vhrltbmTSsB0'],
  [BYTES_64, '$5$rounds=1000$0123456789abcdef$S2IWh.XouHY9bhflyRYXSWgyCHF2UmfZs5YE31nMx31'],
  [
    BYTES_64,
    '$6$rounds=1000$0123456789abcdef$FD.9OtDXW.gUvjr8aOYSU3WMv2Fq4BRmiTf1nNyb3O4HTZnR3.pEoE2.QXzBeE1Hy/lsDzkoOpQB0xX.K7AGo0',
  ],
  ['', '$6$rounds=1000$z$x0juMOYWNjdTR5sgT0aaf01dUdENiddCXmoVqsM/pBx9KC5VmZxeXnqIzBTkqhuwKAeCzb1g6t9RHwvnCzIf61'],
  ['password', '$1$abcd0123$U.n6Jj1fRNp16L12zcPVi.'],
  ['', '$1$x$fwjfZtMwarkdetsjiQreU1'],
  ['password', 'abJnggxhB/yWI'],
  ['test', 'ZzNDgbTpgJhLM'],
  ['\u00e4\u00f6\u00fc', './QZTfaf7o1Ag'],
  // OpenSSL 3.0
  [
    'a much longer password, of more than 64 bytes, to pass more than one block of MD5',
    '$apr1$abcdefgh$g.4OEjTW67zgvOH2gGxcP1',
  ],
]

test.each(hashes)('%s has the hash %s', (password, hash) => {
  expect(faultOfHash(hash)).toBe(undefined)
  expect(checkHash(password, hash)).toBe(true)
  expect(checkHash(`!${password}`, hash)).toBe(false)
})

test('of a password, traditional crypt hashes eight characters', () => {
  expect(checkHash('password and more', 'abJnggxhB/yWI')).toBe(true)
  expect(checkHash('passwor', 'abJnggxhB/yWI')).toBe(false)
})
