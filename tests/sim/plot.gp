# SPDX-License-Identifier: GPL-2.0-or-later
# plot.gp - sim.tsv as a picture: p99.9 queueing delay and best-effort's share, by service and policy
#
# gnuplot -e "tsv='FILE'" plot.gp >FILE.svg

set terminal svg size 1200,900 dynamic font 'sans-serif,13' background 'white'
set datafile separator "\t"
policies = 'shenango-poll shenango-1ms static utilisation-100ms utilisation-1ms usage-1ms oracle'
colours = '#1b7837 #7fbf7b #999999 #762a83 #af8dc3 #d6b8e0 #2166ac'
width = 0.12
place(group, i) = group + (i - (words(policies) + 1) / 2.0) * width
is(i) = strcol(4) eq word(policies, i)

set multiplot layout 2,1
set style fill solid 0.9 noborder
set boxwidth width * 0.9
set grid ytics
set xtics nomirror
set xrange [0.5:*]
set key outside top center horizontal

set title 'Queueing delay of latency-critical requests, p99.9'
set ylabel 'us (below 0.1 is drawn as 0.1)'
set logscale y
set yrange [0.1:*]
plot for [i = 1:words(policies)] tsv using (place($1, i)):(is(i) ? ($9 > 0.1 ? $9 : 0.1) : NaN) \
	with boxes linecolor rgb word(colours, i) title word(policies, i), \
	tsv using 1:(NaN):xtic(strcol(2).' '.strcol(3)) notitle

unset logscale y
unset key
set title 'CPU time of best-effort, of all that services did not use'
set ylabel '%'
set yrange [80:100]
plot for [i = 1:words(policies)] tsv using (place($1, i)):(is(i) ? $13 / 10000 : NaN) \
	with boxes linecolor rgb word(colours, i), \
	tsv using 1:(NaN):xtic(strcol(2).' '.strcol(3)) notitle
unset multiplot
