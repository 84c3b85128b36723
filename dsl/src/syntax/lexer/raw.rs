// Made from `raw.in.rs`, which says how.

use super::{Ended, block_comment, name, other_name, quoted};
use crate::syntax::token::Punct;

# [derive (Clone , Copy , PartialEq , Debug)] pub (super) enum Raw {
Newline , LineComment , BlockComment (Ended) , Name , Number , Str (Ended) , Char (Ended) , Punct (Punct) , }
impl < 's > :: logos :: Logos < 's > for Raw {
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
type _Lexer < 's > = :: logos :: Lexer < 's , Raw > ;
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
return state41 ($ lex , $ offset , $ context) ;
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
256] = [8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 40u8 , 0u8 , 40u8 , 40u8 , 0u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 40u8 , 8u8 , 8u8 , 8u8 , 24u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 10u8 , 8u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 27u8 , 27u8 , 27u8 , 27u8 , 29u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 29u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 8u8 , 8u8 , 8u8 , 8u8 , 27u8 , 8u8 , 27u8 , 27u8 , 27u8 , 27u8 , 29u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 29u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 27u8 , 8u8 , 8u8 , 8u8 , 8u8 , 8u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8 , 0u8] ;
# [inline] fn _make_error < 's > (lex : & mut _Lexer < 's >) -> < Raw as Logos < 's >> :: Error {
< Raw as Logos < 's >> :: Error :: default () }
# [inline] fn _get_action < 's > (lex : & mut _Lexer < 's > , offset : usize , context : _Option < LogosLeaf >) -> CallbackResult < 's , Raw > {
match context {
None => {
lex . end_to_boundary (offset . max (lex . offset () + 1)) ;
CallbackResult :: Error (_make_error (lex)) }
, Some (LogosLeaf :: Leaf0) => {
CallbackResult :: Skip }
, Some (LogosLeaf :: Leaf1) => {
CallbackResult :: Emit (Raw :: Newline) }
, Some (LogosLeaf :: Leaf2) => {
CallbackResult :: Emit (Raw :: LineComment) }
, Some (LogosLeaf :: Leaf3) => {
let cb_result = block_comment (lex) ;
CallbackRetVal :: < 's , Ended , Raw > :: construct (cb_result , Raw :: BlockComment) }
, Some (LogosLeaf :: Leaf4) => {
let cb_result = {
let lexer = lex ;
name (lexer) }
;
CallbackRetVal :: < 's , () , Raw > :: construct (cb_result , | () | Raw :: Name) }
, Some (LogosLeaf :: Leaf5) => {
let cb_result = {
let lexer = lex ;
other_name (lexer) }
;
CallbackRetVal :: < 's , () , Raw > :: construct (cb_result , | () | Raw :: Name) }
, Some (LogosLeaf :: Leaf6) => {
CallbackResult :: Emit (Raw :: Number) }
, Some (LogosLeaf :: Leaf7) => {
let cb_result = {
let lexer = lex ;
quoted (lexer , b'"') }
;
CallbackRetVal :: < 's , Ended , Raw > :: construct (cb_result , Raw :: Str) }
, Some (LogosLeaf :: Leaf8) => {
let cb_result = {
let lexer = lex ;
quoted (lexer , b'\'') }
;
CallbackRetVal :: < 's , Ended , Raw > :: construct (cb_result , Raw :: Char) }
, Some (LogosLeaf :: Leaf9) => {
let cb_result = {
let _ = lex ;
Punct :: LParen }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf10) => {
let cb_result = {
let _ = lex ;
Punct :: RParen }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf11) => {
let cb_result = {
let _ = lex ;
Punct :: LBracket }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf12) => {
let cb_result = {
let _ = lex ;
Punct :: RBracket }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf13) => {
let cb_result = {
let _ = lex ;
Punct :: LBrace }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf14) => {
let cb_result = {
let _ = lex ;
Punct :: RBrace }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf15) => {
let cb_result = {
let _ = lex ;
Punct :: Semi }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf16) => {
let cb_result = {
let _ = lex ;
Punct :: Comma }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf17) => {
let cb_result = {
let _ = lex ;
Punct :: Dot }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf18) => {
let cb_result = {
let _ = lex ;
Punct :: Arrow }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf19) => {
let cb_result = {
let _ = lex ;
Punct :: Question }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf20) => {
let cb_result = {
let _ = lex ;
Punct :: Colon }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf21) => {
let cb_result = {
let _ = lex ;
Punct :: ColonColon }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf22) => {
let cb_result = {
let _ = lex ;
Punct :: Ellipsis }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf23) => {
let cb_result = {
let _ = lex ;
Punct :: Plus }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf24) => {
let cb_result = {
let _ = lex ;
Punct :: Minus }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf25) => {
let cb_result = {
let _ = lex ;
Punct :: Star }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf26) => {
let cb_result = {
let _ = lex ;
Punct :: Slash }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf27) => {
let cb_result = {
let _ = lex ;
Punct :: Percent }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf28) => {
let cb_result = {
let _ = lex ;
Punct :: PlusPlus }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf29) => {
let cb_result = {
let _ = lex ;
Punct :: MinusMinus }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf30) => {
let cb_result = {
let _ = lex ;
Punct :: Amp }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf31) => {
let cb_result = {
let _ = lex ;
Punct :: Pipe }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf32) => {
let cb_result = {
let _ = lex ;
Punct :: Caret }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf33) => {
let cb_result = {
let _ = lex ;
Punct :: Tilde }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf34) => {
let cb_result = {
let _ = lex ;
Punct :: Bang }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf35) => {
let cb_result = {
let _ = lex ;
Punct :: AmpAmp }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf36) => {
let cb_result = {
let _ = lex ;
Punct :: PipePipe }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf37) => {
let cb_result = {
let _ = lex ;
Punct :: Shl }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf38) => {
let cb_result = {
let _ = lex ;
Punct :: Shr }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf39) => {
let cb_result = {
let _ = lex ;
Punct :: LaunchOpen }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf40) => {
let cb_result = {
let _ = lex ;
Punct :: LaunchClose }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf41) => {
let cb_result = {
let _ = lex ;
Punct :: Lt }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf42) => {
let cb_result = {
let _ = lex ;
Punct :: Gt }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf43) => {
let cb_result = {
let _ = lex ;
Punct :: Le }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf44) => {
let cb_result = {
let _ = lex ;
Punct :: Ge }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf45) => {
let cb_result = {
let _ = lex ;
Punct :: EqEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf46) => {
let cb_result = {
let _ = lex ;
Punct :: Ne }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf47) => {
let cb_result = {
let _ = lex ;
Punct :: Eq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf48) => {
let cb_result = {
let _ = lex ;
Punct :: PlusEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf49) => {
let cb_result = {
let _ = lex ;
Punct :: MinusEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf50) => {
let cb_result = {
let _ = lex ;
Punct :: StarEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf51) => {
let cb_result = {
let _ = lex ;
Punct :: SlashEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf52) => {
let cb_result = {
let _ = lex ;
Punct :: PercentEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf53) => {
let cb_result = {
let _ = lex ;
Punct :: AmpEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf54) => {
let cb_result = {
let _ = lex ;
Punct :: PipeEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf55) => {
let cb_result = {
let _ = lex ;
Punct :: CaretEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf56) => {
let cb_result = {
let _ = lex ;
Punct :: ShlEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf57) => {
let cb_result = {
let _ = lex ;
Punct :: ShrEq }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf58) => {
let cb_result = {
let _ = lex ;
Punct :: At }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf59) => {
let cb_result = {
let _ = lex ;
Punct :: Hash }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
, Some (LogosLeaf :: Leaf60) => {
let cb_result = {
let _ = lex ;
Punct :: HashHash }
;
CallbackRetVal :: < 's , Punct , Raw > :: construct (cb_result , Raw :: Punct) }
}
}
# [derive (Clone , Copy)] enum LogosLeaf {
Leaf0 = 0isize , Leaf1 = 1isize , Leaf2 = 2isize , Leaf3 = 3isize , Leaf4 = 4isize , Leaf5 = 5isize , Leaf6 = 6isize , Leaf7 = 7isize , Leaf8 = 8isize , Leaf9 = 9isize , Leaf10 = 10isize , Leaf11 = 11isize , Leaf12 = 12isize , Leaf13 = 13isize , Leaf14 = 14isize , Leaf15 = 15isize , Leaf16 = 16isize , Leaf17 = 17isize , Leaf18 = 18isize , Leaf19 = 19isize , Leaf20 = 20isize , Leaf21 = 21isize , Leaf22 = 22isize , Leaf23 = 23isize , Leaf24 = 24isize , Leaf25 = 25isize , Leaf26 = 26isize , Leaf27 = 27isize , Leaf28 = 28isize , Leaf29 = 29isize , Leaf30 = 30isize , Leaf31 = 31isize , Leaf32 = 32isize , Leaf33 = 33isize , Leaf34 = 34isize , Leaf35 = 35isize , Leaf36 = 36isize , Leaf37 = 37isize , Leaf38 = 38isize , Leaf39 = 39isize , Leaf40 = 40isize , Leaf41 = 41isize , Leaf42 = 42isize , Leaf43 = 43isize , Leaf44 = 44isize , Leaf45 = 45isize , Leaf46 = 46isize , Leaf47 = 47isize , Leaf48 = 48isize , Leaf49 = 49isize , Leaf50 = 50isize , Leaf51 = 51isize , Leaf52 = 52isize , Leaf53 = 53isize , Leaf54 = 54isize , Leaf55 = 55isize , Leaf56 = 56isize , Leaf57 = 57isize , Leaf58 = 58isize , Leaf59 = 59isize , Leaf60 = 60isize }
fn state0 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf54) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state1 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf36) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state2 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf55) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state3 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf44) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state4 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf38) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state5 (lex , offset , context) ;
}
if (byte == b'>') {
offset += 1 ;
return state6 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state5 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf57) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state6 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf40) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state7 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf45) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state8 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf37) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'<') {
offset += 1 ;
return state10 (lex , offset , context) ;
}
if (byte == b'=') {
offset += 1 ;
return state11 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state9 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf43) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state10 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf39) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state11 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf56) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state12 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf21) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state13 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if _TABLE_0 [byte as usize] & 1u8 != 0 {
offset += 1 ;
return state14 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state14 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 2u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf6) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State13 , State15 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State13 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State15 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State15 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State15 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State15 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State13 => {
return state13 (lex , offset , context) ;
}
, LogosNextState :: State15 => {
return state15 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state15 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 4u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf6) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State13 , State14 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State13 , ___ , ___ , ___ , State14 , ___ , State14 , State14 , ___ , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State14 , State14 , State14 , State14 , ___ , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , ___ , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , ___ , ___ , ___ , ___ , State14 , ___ , State14 , State14 , State14 , State14 , ___ , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , ___ , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State13 => {
return state13 (lex , offset , context) ;
}
, LogosNextState :: State14 => {
return state14 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state16 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf3) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state17 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 8u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf2) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State19 , State20 , State21 , State22 , State23 , State24 , State25 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State19 , State20 , State21 , State21 , State21 , State21 , State21 , State21 , State21 , State21 , State21 , State21 , State21 , State21 , State22 , State21 , State21 , State23 , State24 , State24 , State24 , State25 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State19 => {
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
, LogosNextState :: State23 => {
return state23 (lex , offset , context) ;
}
, LogosNextState :: State24 => {
return state24 (lex , offset , context) ;
}
, LogosNextState :: State25 => {
return state25 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state18 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf51) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state19 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state17 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state20 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 160u8 ..= 191u8)) {
offset += 1 ;
return state19 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state21 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state19 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state22 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 159u8)) {
offset += 1 ;
return state19 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state23 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 144u8 ..= 191u8)) {
offset += 1 ;
return state21 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state24 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state21 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state25 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 143u8)) {
offset += 1 ;
return state21 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state26 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'.') {
offset += 1 ;
return state44 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state27 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf29) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state28 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf49) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state29 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf18) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state30 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf28) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state31 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf48) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state32 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf50) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state33 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf35) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state34 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf53) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state35 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf52) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state36 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 16u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf4) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state37 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf60) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state38 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf46) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state39 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf1) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state40 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
# [inline] fn loop_test (byte : u8) -> bool {
_TABLE_0 [byte as usize] & 32u8 == 0 }
_fast_loop ! (lex , loop_test , offset) ;
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf0) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state41 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State14 , State36 , State39 , State40 , State42 , State43 , State45 , State46 , State47 , State48 , State49 , State50 , State51 , State52 , State53 , State54 , State55 , State56 , State57 , State58 , State59 , State60 , State61 , State62 , State63 , State64 , State66 , State67 , State68 , State69 , State70 , State71 , State72 , State73 , State74 , State75 , State76 , State77 , State78 , State79 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State40 , State39 , State40 , State40 , State67 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State40 , State68 , State69 , State70 , State36 , State71 , State72 , State73 , State74 , State75 , State76 , State77 , State78 , State79 , State66 , State42 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State14 , State43 , State45 , State46 , State47 , State48 , State49 , State50 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State51 , ___ , State52 , State53 , State36 , ___ , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State36 , State54 , State55 , State56 , State57 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State58 , State59 , State60 , State60 , State60 , State60 , State60 , State60 , State60 , State60 , State60 , State60 , State60 , State60 , State61 , State60 , State60 , State62 , State63 , State63 , State63 , State64 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State14 => {
return state14 (lex , offset , context) ;
}
, LogosNextState :: State36 => {
return state36 (lex , offset , context) ;
}
, LogosNextState :: State39 => {
return state39 (lex , offset , context) ;
}
, LogosNextState :: State40 => {
return state40 (lex , offset , context) ;
}
, LogosNextState :: State42 => {
return state42 (lex , offset , context) ;
}
, LogosNextState :: State43 => {
return state43 (lex , offset , context) ;
}
, LogosNextState :: State45 => {
return state45 (lex , offset , context) ;
}
, LogosNextState :: State46 => {
return state46 (lex , offset , context) ;
}
, LogosNextState :: State47 => {
return state47 (lex , offset , context) ;
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
, LogosNextState :: State56 => {
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
, LogosNextState :: State64 => {
return state64 (lex , offset , context) ;
}
, LogosNextState :: State66 => {
return state66 (lex , offset , context) ;
}
, LogosNextState :: State67 => {
return state67 (lex , offset , context) ;
}
, LogosNextState :: State68 => {
return state68 (lex , offset , context) ;
}
, LogosNextState :: State69 => {
return state69 (lex , offset , context) ;
}
, LogosNextState :: State70 => {
return state70 (lex , offset , context) ;
}
, LogosNextState :: State71 => {
return state71 (lex , offset , context) ;
}
, LogosNextState :: State72 => {
return state72 (lex , offset , context) ;
}
, LogosNextState :: State73 => {
return state73 (lex , offset , context) ;
}
, LogosNextState :: State74 => {
return state74 (lex , offset , context) ;
}
, LogosNextState :: State75 => {
return state75 (lex , offset , context) ;
}
, LogosNextState :: State76 => {
return state76 (lex , offset , context) ;
}
, LogosNextState :: State77 => {
return state77 (lex , offset , context) ;
}
, LogosNextState :: State78 => {
return state78 (lex , offset , context) ;
}
, LogosNextState :: State79 => {
return state79 (lex , offset , context) ;
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
fn state42 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf26) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State16 , State17 , State18 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State16 , ___ , ___ , ___ , ___ , State17 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State18 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
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
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state43 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf20) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b':') {
offset += 1 ;
return state12 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state44 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf22) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state45 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf15) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state46 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf41) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'<') {
offset += 1 ;
return state8 (lex , offset , context) ;
}
if (byte == b'=') {
offset += 1 ;
return state9 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state47 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf47) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state7 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state48 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf42) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state3 (lex , offset , context) ;
}
if (byte == b'>') {
offset += 1 ;
return state4 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state49 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf19) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state50 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf58) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state51 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf11) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state52 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf12) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state53 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf32) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state2 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state54 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf13) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state55 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf31) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state0 (lex , offset , context) ;
}
if (byte == b'|') {
offset += 1 ;
return state1 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state56 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf14) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state57 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf33) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state58 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state65 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state59 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 160u8 ..= 191u8)) {
offset += 1 ;
return state58 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state60 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state58 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state61 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 159u8)) {
offset += 1 ;
return state58 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state62 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 144u8 ..= 191u8)) {
offset += 1 ;
return state60 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state63 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 191u8)) {
offset += 1 ;
return state60 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state64 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , 128u8 ..= 143u8)) {
offset += 1 ;
return state60 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state65 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf5) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state66 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf17) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (matches ! (byte , b'0' ..= b'9')) {
offset += 1 ;
return state14 (lex , offset , context) ;
}
if (byte == b'.') {
offset += 1 ;
return state26 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state67 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf1) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == 10u8) {
offset += 1 ;
return state39 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state68 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf34) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state38 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state69 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf7) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state70 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf59) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'#') {
offset += 1 ;
return state37 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state71 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf27) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state35 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state72 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf30) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'&') {
offset += 1 ;
return state33 (lex , offset , context) ;
}
if (byte == b'=') {
offset += 1 ;
return state34 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state73 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf8) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state74 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf9) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state75 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf10) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state76 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf25) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'=') {
offset += 1 ;
return state32 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state77 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf23) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
if (byte == b'+') {
offset += 1 ;
return state30 (lex , offset , context) ;
}
if (byte == b'=') {
offset += 1 ;
return state31 (lex , offset , context) ;
}
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state78 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf16) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
}
else {
}
_take_action ! (lex , offset , context , state) }
fn state79 < 's > (lex : & mut _Lexer < 's > , mut offset : usize , mut context : _Option < LogosLeaf >) -> _Option < _Result < Raw , < Raw as Logos < 's >> :: Error >> {
lex . end (offset) ;
context = Some (LogosLeaf :: Leaf24) ;
let other = lex . read :: < u8 > (offset) ;
if let Some (byte) = other {
# [derive (Copy , Clone)] enum LogosNextState {
___ , State27 , State28 , State29 }
const TABLE : [LogosNextState ;
256] = {
use LogosNextState :: * ;
[___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State27 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , State28 , State29 , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___ , ___] }
;
offset += 1 ;
match TABLE [byte as usize] {
LogosNextState :: State27 => {
return state27 (lex , offset , context) ;
}
, LogosNextState :: State28 => {
return state28 (lex , offset , context) ;
}
, LogosNextState :: State29 => {
return state29 (lex , offset , context) ;
}
LogosNextState :: ___ => {
}
, }
offset -= 1 ;
}
else {
}
_take_action ! (lex , offset , context , state) }
state41 (lex , lex . offset () , None) }
}
