// Made from `raw.in.rs`, which says how.

use super::block_comment;

# [derive (Clone , Copy , PartialEq , Eq , Debug)] pub (crate) enum Token {
OpenComment , Name , Dotted , Single , Double , Decimal , Int , Str , Semi , Comma , Colon , LParen , RParen , LBracket , RBracket , LBrace , RBrace , Less , Greater , At , Bang , Bar , Equal , Plus , Minus , Tilde , Star , }
impl < 's > :: logos :: Logos < 's > for Token {
type Error = () ;
type Extras = () ;
type Source = str ;
fn lex (lex : & mut :: logos :: Lexer < 's , Self >) -> core :: option :: Option < core :: result :: Result < Self , < Self as :: logos :: Logos < 's >> :: Error >> {
use :: logos :: internal :: {
LexerInternal , CallbackRetVal , CallbackResult , SkipRetVal , SkipResult , }
;
use core :: result :: Result as _Result ;
use core :: option :: Option as _Option ;
use :: logos :: Logos ;
type _Lexer < 's > = :: logos :: Lexer < 's , Token > ;
macro_rules ! _fast_loop {
($ lex : ident , $ test : ident , $ offset : ident) => {
'fast_loop : {
while let Some (arr) = $ lex . read :: < & [u8 ;
8usize] > ($ offset) {
if $ test (arr [0usize]) {
$ offset += 0usize ;
break 'fast_loop ;
}
if $ test (arr [1usize]) {
$ offset += 1usize ;
break 'fast_loop ;
}
if $ test (arr [2usize]) {
$ offset += 2usize ;
break 'fast_loop ;
}
if $ test (arr [3usize]) {
$ offset += 3usize ;
break 'fast_loop ;
}
if $ test (arr [4usize]) {
$ offset += 4usize ;
break 'fast_loop ;
}
if $ test (arr [5usize]) {
$ offset += 5usize ;
break 'fast_loop ;
}
if $ test (arr [6usize]) {
$ offset += 6usize ;
break 'fast_loop ;
}
if $ test (arr [7usize]) {
$ offset += 7usize ;
break 'fast_loop ;
}
$ offset += 8usize ;
}
while let Some (byte) = $ lex . read :: < u8 > ($ offset) {
if $ test (byte) {
break 'fast_loop ;
}
$ offset += 1 ;
}
}
}
;
}
macro_rules ! _take_action {
($ lex : ident , $ offset : ident , $ context : ident , $ state : ident) => {
{
let action = _get_action ($ lex , $ offset , $ context) ;
match action {
CallbackResult :: Emit (tok) => {
return Some (Ok (tok)) ;
}
, CallbackResult :: Skip => {
$ lex . trivia () ;
$ offset = $ lex . offset () ;
$ context = None ;
return state29 ($ lex , $ offset , $ context) ;
}
, CallbackResult :: Error (err) => {
return Some (Err (err)) ;
}
, CallbackResult :: DefaultError => {
return Some (Err (_make_error ($ lex))) ;
}
, }
}
}
}
const _TABLE_0 : [u8 ;
256] = [144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 208u8 , 64u8 , 208u8 , 208u8 , 208u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 208u8 , 144u8 , 16u8 , 144u8 , 176u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 146u8 , 144u8 , 146u8 , 144u8 , 144u8 , 189u8 , 189u8 , 181u8 , 181u8 , 181u8 , 181u8 , 181u8 , 181u8 , 181u8 , 181u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 180u8 , 180u8 , 180u8 , 180u8 , 180u8 , 180u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 144u8 , 144u8 , 144u8 , 144u8 , 176u8 , 144u8 , 180u8 , 180u8 , 180u8 , 180u8 , 180u8 , 180u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 176u8 , 144u8 , 144u8 , 144u8 , 144u8 , 144u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8] ;
# [inline] fn _make_error < 's > (lex : & mut _Lexer < 's >) -> < Token as Logos < 's >> :: Error {
< Token as Logos < 's >> :: Error :: default () }
# [inline] fn _get_action < 's > (lex : & mut _Lexer < 's > , offset : usize , context : _Option < LogosLeaf >) -> CallbackResult < 's , Token > {
match context {
None => {
lex . end_to_boundary (offset . max (lex . offset () + 1)) ;
CallbackResult :: Error (_make_error (lex)) }
, Some (LogosLeaf :: Leaf0) => {
CallbackResult :: Skip }
, Some (LogosLeaf :: Leaf1) => {
CallbackResult :: Skip }
, Some (LogosLeaf :: Leaf2) => {
let cb_result = block_comment (lex) ;
CallbackRetVal :: < 's , () , Token > :: construct (cb_result , | () | Token :: OpenComment) }
, Some (LogosLeaf :: Leaf3) => {
CallbackResult :: Emit (Token :: Name) }
, Some (LogosLeaf :: Leaf4) => {
CallbackResult :: Emit (Token :: Name) }
, Some (LogosLeaf :: Leaf5) => {
CallbackResult :: Emit (Token :: Dotted) }
, Some (LogosLeaf :: Leaf6) => {
CallbackResult :: Emit (Token :: Single) }
, Some (LogosLeaf :: Leaf7) => {
CallbackResult :: Emit (Token :: Double) }
, Some (LogosLeaf :: Leaf8) => {
CallbackResult :: Emit (Token :: Decimal) }
, Some (LogosLeaf :: Leaf9) => {
CallbackResult :: Emit (Token :: Int) }
, Some (LogosLeaf :: Leaf10) => {
CallbackResult :: Emit (Token :: Int) }
, Some (LogosLeaf :: Leaf11) => {
CallbackResult :: Emit (Token :: Int) }
, Some (LogosLeaf :: Leaf12) => {
CallbackResult :: Emit (Token :: Str) }
, Some (LogosLeaf :: Leaf13) => {
CallbackResult :: Emit (Token :: Semi) }
, Some (LogosLeaf :: Leaf14) => {
CallbackResult :: Emit (Token :: Comma) }
, Some (LogosLeaf :: Leaf15) => {
CallbackResult :: Emit (Token :: Colon) }
, Some (LogosLeaf :: Leaf16) => {
CallbackResult :: Emit (Token :: LParen) }
, Some (LogosLeaf :: Leaf17) => {
CallbackResult :: Emit (Token :: RParen) }
, Some (LogosLeaf :: Leaf18) => {
CallbackResult :: Emit (Token :: LBracket) }
, Some (LogosLeaf :: Leaf19) => {
CallbackResult :: Emit (Token :: RBracket) }
, Some (LogosLeaf :: Leaf20) => {
CallbackResult :: Emit (Token :: LBrace) }
, Some (LogosLeaf :: Leaf21) => {
CallbackResult :: Emit (Token :: RBrace) }
, Some (LogosLeaf :: Leaf22) => {
CallbackResult :: Emit (Token :: Less) }
, Some (LogosLeaf :: Leaf23) => {
CallbackResult :: Emit (Token :: Greater) }
, Some (LogosLeaf :: Leaf24) => {
CallbackResult :: Emit (Token :: At) }
, Some (LogosLeaf :: Leaf25) => {
CallbackResult :: Emit (Token :: Bang) }
, Some (LogosLeaf :: Leaf26) => {
CallbackResult :: Emit (Token :: Bar) }
, Some (LogosLeaf :: Leaf27) => {
CallbackResult :: Emit (Token :: Equal) }
, Some (LogosLeaf :: Leaf28) => {
CallbackResult :: Emit (Token :: Plus) }
, Some (LogosLeaf :: Leaf29) => {
CallbackResult :: Emit (Token :: Minus) }
, Some (LogosLeaf :: Leaf30) => {
CallbackResult :: Emit (Token :: Tilde) }
, Some (LogosLeaf :: Leaf31) => {
CallbackResult :: Emit (Token :: Star) }
}
}
# [derive (Clone , Copy)] enum LogosLeaf {
Leaf0 = 0isize , Leaf1 = 1isize , Leaf2 = 2isize , Leaf3 = 3isize , Leaf4 = 4isize , Leaf5 = 5isize , Leaf6 = 6isize , Leaf7 = 7isize , Leaf8 = 8isize , Leaf9 = 9isize , Leaf10 = 10isize , Leaf11 = 11isize , Leaf12 = 12isize , Leaf13 = 13isize , Leaf14 = 14isize , Leaf15 = 15isize , Leaf16 = 16isize , Leaf17 = 17isize , Leaf18 = 18isize , Leaf19 = 19isize , Leaf20 = 20isize , Leaf21 = 21isize , Leaf22 = 22isize , Leaf23 = 23isize , Leaf24 = 24isize , Leaf25 = 25isize , Leaf26 = 26isize , Leaf27 = 27isize , Leaf28 = 28isize , Leaf29 = 29isize , Leaf30 = 30isize , Leaf31 = 31isize }
fn state0 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 1u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf8) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'E') || (byte == b'e') {
offset += 1 ;
return state3 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state1 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 1u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf9) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State0 , State2 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State0 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State2 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State0 => {
return state0 (lex , offset , context) ;
}
, LogosNextState :: State2 => {
return state2 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state2 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf9) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state3 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , b'0' ..= b'9')) {
offset += 1 ;
return state4 (lex , offset , context) ;
}
if _TABLE_0 [byte as usize] & 2u8 != 0 {
offset += 1 ;
return state47 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state4 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 1u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf8) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state5 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , b'0' ..= b'1')) {
offset += 1 ;
return state13 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state6 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if _TABLE_0 [byte as usize] & 4u8 != 0 {
offset += 1 ;
return state12 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state7 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if _TABLE_0 [byte as usize] & 4u8 != 0 {
offset += 1 ;
return state11 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state8 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if _TABLE_0 [byte as usize] & 4u8 != 0 {
offset += 1 ;
return state9 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state9 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 4u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf10) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'U') {
offset += 1 ;
return state10 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state10 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf10) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state11 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 4u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf6) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state12 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 4u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf7) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state13 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 8u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf11) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'U') {
offset += 1 ;
return state14 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state14 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf11) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state15 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 16u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf1) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State16 , State17 , State18 , State19 , State20 , State21 , State22 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State16 , State17 , State18 , State18 , State18 , State18 , State18 , State18 , State18 , State18 , State18 , State18 , State18 , State18 , State19 , State18 , State18 , State20 , State21 , State21 , State21 , State22 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State16 => {
return state16 (lex , offset , context) ;
}
, LogosNextState :: State17 => {
return state17 (lex , offset , context) ;
}
, LogosNextState :: State18 => {
return state18 (lex , offset , context) ;
}
, LogosNextState :: State19 => {
return state19 (lex , offset , context) ;
}
, LogosNextState :: State20 => {
return state20 (lex , offset , context) ;
}
, LogosNextState :: State21 => {
return state21 (lex , offset , context) ;
}
, LogosNextState :: State22 => {
return state22 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state16 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state15 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state17 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 160u8 ..= 191u8)) {
offset += 1 ;
return state16 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state18 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state16 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state19 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 159u8)) {
offset += 1 ;
return state16 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state20 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 144u8 ..= 191u8)) {
offset += 1 ;
return state18 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state21 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state18 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state22 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 143u8)) {
offset += 1 ;
return state18 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state23 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 32u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf5) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b':') {
offset += 1 ;
return state24 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state24 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b':') {
offset += 1 ;
return state46 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state25 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 32u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf5) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b':') {
offset += 1 ;
return state24 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state26 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 32u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf4) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state27 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 32u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf3) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state28 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 64u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf0) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state29 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State1 , State27 , State28 , State30 , State31 , State32 , State34 , State35 , State36 , State37 , State38 , State39 , State40 , State41 , State42 , State43 , State44 , State45 , State48 , State49 , State50 , State51 , State52 , State53 , State54 , State55 , State64 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State28 , State28 , State28 , State28 , State28 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State28 , State30 , State31 , ___ , State27 , State32 , ___ , ___ , State34 , State35 , State36 , State37 , State38 , State39 , State40 , State41 , State42 , State1 , State1 , State1 , State1 , State1 , State1 , State1 , State1 , State1 , State43 , State44 , State45 , State48 , State49 , ___ , State50 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State51 , ___ , State52 , ___ , State27 , ___ , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State27 , State53 , State54 , State55 , State64 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State1 => {
return state1 (lex , offset , context) ;
}
, LogosNextState :: State27 => {
return state27 (lex , offset , context) ;
}
, LogosNextState :: State28 => {
return state28 (lex , offset , context) ;
}
, LogosNextState :: State30 => {
return state30 (lex , offset , context) ;
}
, LogosNextState :: State31 => {
return state31 (lex , offset , context) ;
}
, LogosNextState :: State32 => {
return state32 (lex , offset , context) ;
}
, LogosNextState :: State34 => {
return state34 (lex , offset , context) ;
}
, LogosNextState :: State35 => {
return state35 (lex , offset , context) ;
}
, LogosNextState :: State36 => {
return state36 (lex , offset , context) ;
}
, LogosNextState :: State37 => {
return state37 (lex , offset , context) ;
}
, LogosNextState :: State38 => {
return state38 (lex , offset , context) ;
}
, LogosNextState :: State39 => {
return state39 (lex , offset , context) ;
}
, LogosNextState :: State40 => {
return state40 (lex , offset , context) ;
}
, LogosNextState :: State41 => {
return state41 (lex , offset , context) ;
}
, LogosNextState :: State42 => {
return state42 (lex , offset , context) ;
}
, LogosNextState :: State43 => {
return state43 (lex , offset , context) ;
}
, LogosNextState :: State44 => {
return state44 (lex , offset , context) ;
}
, LogosNextState :: State45 => {
return state45 (lex , offset , context) ;
}
, LogosNextState :: State48 => {
return state48 (lex , offset , context) ;
}
, LogosNextState :: State49 => {
return state49 (lex , offset , context) ;
}
, LogosNextState :: State50 => {
return state50 (lex , offset , context) ;
}
, LogosNextState :: State51 => {
return state51 (lex , offset , context) ;
}
, LogosNextState :: State52 => {
return state52 (lex , offset , context) ;
}
, LogosNextState :: State53 => {
return state53 (lex , offset , context) ;
}
, LogosNextState :: State54 => {
return state54 (lex , offset , context) ;
}
, LogosNextState :: State55 => {
return state55 (lex , offset , context) ;
}
, LogosNextState :: State64 => {
return state64 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
if lex . offset () == offset {
return None }
}
_take_action ! (lex , offset , context , state) }
fn state30 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf25) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state31 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 128u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State56 , State57 , State58 , State59 , State60 , State61 , State62 , State63 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State56 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State57 , State58 , State59 , State59 , State59 , State59 , State59 , State59 , State59 , State59 , State59 , State59 , State59 , State59 , State60 , State59 , State59 , State61 , State62 , State62 , State62 , State63 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State56 => {
return state56 (lex , offset , context) ;
}
, LogosNextState :: State57 => {
return state57 (lex , offset , context) ;
}
, LogosNextState :: State58 => {
return state58 (lex , offset , context) ;
}
, LogosNextState :: State59 => {
return state59 (lex , offset , context) ;
}
, LogosNextState :: State60 => {
return state60 (lex , offset , context) ;
}
, LogosNextState :: State61 => {
return state61 (lex , offset , context) ;
}
, LogosNextState :: State62 => {
return state62 (lex , offset , context) ;
}
, LogosNextState :: State63 => {
return state63 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state32 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if _TABLE_0 [byte as usize] & 32u8 != 0 {
offset += 1 ;
return state26 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state33 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf2) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state34 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf16) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state35 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf17) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state36 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf31) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state37 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf28) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state38 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf14) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state39 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf29) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state40 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if _TABLE_0 [byte as usize] & 32u8 != 0 {
offset += 1 ;
return state23 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state41 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'/') {
offset += 1 ;
return state15 (lex , offset , context) ;
}
if (byte == b'*') {
offset += 1 ;
return state33 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state42 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf9) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State0 , State1 , State2 , State5 , State6 , State7 , State8 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State0 , ___ , State1 , State1 , State1 , State1 , State1 , State1 , State1 , State1 , State1 , State1 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State5 , ___ , State6 , ___ , State7 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State2 , ___ , ___ , State8 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State5 , ___ , State6 , ___ , State7 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State8 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State0 => {
return state0 (lex , offset , context) ;
}
, LogosNextState :: State1 => {
return state1 (lex , offset , context) ;
}
, LogosNextState :: State2 => {
return state2 (lex , offset , context) ;
}
, LogosNextState :: State5 => {
return state5 (lex , offset , context) ;
}
, LogosNextState :: State6 => {
return state6 (lex , offset , context) ;
}
, LogosNextState :: State7 => {
return state7 (lex , offset , context) ;
}
, LogosNextState :: State8 => {
return state8 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state43 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf15) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state44 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf13) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state45 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf22) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state46 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if _TABLE_0 [byte as usize] & 32u8 != 0 {
offset += 1 ;
return state25 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state47 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , b'0' ..= b'9')) {
offset += 1 ;
return state4 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state48 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf27) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state49 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf23) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state50 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf24) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state51 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf18) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state52 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf19) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state53 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf20) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state54 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf26) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state55 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf21) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state56 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf12) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state57 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state31 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state58 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 160u8 ..= 191u8)) {
offset += 1 ;
return state57 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state59 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state57 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state60 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 159u8)) {
offset += 1 ;
return state57 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state61 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 144u8 ..= 191u8)) {
offset += 1 ;
return state59 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state62 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state59 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state63 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 143u8)) {
offset += 1 ;
return state59 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state64 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Token , < Token as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf30) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
state29 (lex , lex . offset () , None) }
}
